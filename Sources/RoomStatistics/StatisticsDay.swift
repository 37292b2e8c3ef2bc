import FoundationEssentials

/// A day in UTC, for which numbers across rooms are stored.
package struct StatisticsDay: Hashable, Sendable, CustomStringConvertible {
    /// Days since the Unix epoch.
    package let number: Int

    package init(_ number: Int) { self.number = number }

    /// Reads ``description``; nil for any other text.
    package init?(_ text: String) {
        guard text.utf8.count == 10, let date = try? Date(text + "T00:00:00Z", strategy: .iso8601) else { return nil }
        number = Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
        guard description == text else { return nil }
    }

    /// Its beginning, in milliseconds since the Unix epoch.
    package var instant: Int64 { Int64(number) * 86_400_000 }

    /// The day as in `2026-11-22`.
    package var description: String {
        String(Date(timeIntervalSince1970: Double(number) * 86_400).formatted(.iso8601).prefix(10))
    }
}
