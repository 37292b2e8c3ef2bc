package import EventStorage
package import RoomDomain

/// A question about the counts of a room: a span of time, and the steps into which it is divided.
package struct StatisticsQuery: Hashable, Sendable {
    /// The length of one bucket of the answer.
    package enum Step: String, Sendable, Hashable, CaseIterable {
        case minute, quarter, hour, day
        /// One bucket for the whole span.
        case total

        /// In minutes; the whole span is aligned to quarters of an hour.
        var minutes: Int {
            switch self {
            case .minute: 1
            case .quarter, .total: 15
            case .hour: 60
            case .day: 1_440
            }
        }
    }

    /// What is wrong with a question, as a sentence for the client.
    package struct Violation: Error, Hashable, Sendable {
        package let description: String
    }

    /// The most buckets of one answer.
    package static let mostBuckets = 1_500
    /// The offsets of local times from UTC that there are, in minutes; each is a multiple of 15.
    package static let offsets = -840...840
    /// The last minute that can be asked for.
    private static let lastMinute = 2_147_483_000

    package let step: Step
    /// The first minute, in minutes since the Unix epoch.
    package let from: Int
    /// The minute after the last.
    package let to: Int
    /// The offset of the local time in which hours and days begin, in minutes.
    package let offset: Int

    /// Makes a question from what a client sent: instants in milliseconds since the Unix epoch.
    ///
    /// The beginning is moved down and the end up to the nearest bucket. Without them, it is the last day up to `now`.
    package init(
        step: Step, from: Int?, to: Int?, offset: Int, now: Timestamp
    ) throws(Violation) {
        guard Self.offsets.contains(offset), offset % 15 == 0 else {
            throw Violation(description: "offsetMinutes: expected a multiple of 15 from -840 to 840")
        }
        if let from, let to, from >= to { throw Violation(description: "to: expected an instant after from") }
        let present = RoomTally.minute(of: now)
        func down(_ minute: Int) -> Int { minute - (minute + offset).modulo(step.minutes) }
        func minute(_ milliseconds: Int) -> Int { min(milliseconds / 60_000, Self.lastMinute) }
        let end = to.map { $0 % 60_000 == 0 ? minute($0) : minute($0) + 1 } ?? present + 1
        let start = down(from.map(minute) ?? max(0, end - 1_440))
        let aligned = down(end) == end ? end : down(end) + step.minutes
        guard start < aligned else { throw Violation(description: "to: expected an instant after from") }
        guard step == .total || (aligned - start) / step.minutes <= Self.mostBuckets else {
            throw Violation(
                description: "step: at most \(Self.mostBuckets) buckets; ask for a longer step, or a shorter time")
        }
        guard step != .minute || start >= RoomTally.firstMinuteKept(at: now) else {
            throw Violation(description: "step: minutes are kept for 48 hours; ask for quarter")
        }
        (self.step, self.from, self.to, self.offset) = (step, start, aligned, offset)
    }

    /// The first minute of the bucket that contains a minute of the span.
    private func bucket(of minute: Int) -> Int {
        step == .total ? from : minute - (minute + offset).modulo(step.minutes)
    }

    /// What was observed in the buckets in which somebody listened, ascending, each with its first minute.
    package func sums(of seen: [CountBucket: Audience]) -> [(minute: Int, audience: Audience)] {
        var sums: [Int: Audience] = [:]
        for (span, audience) in seen where from <= span.minute && span.minute < to {
            sums[bucket(of: span.minute), default: Audience()] += audience
        }
        return sums.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The sums of the buckets that are not empty, ascending, each with its first minute.
    package func sums(of counts: [CountBucket: EventCounts]) -> [(minute: Int, counts: EventCounts)] {
        var sums: [Int: EventCounts] = [:]
        for (span, counts) in counts where from <= span.minute && span.minute < to {
            sums[bucket(of: span.minute), default: EventCounts()] += counts
        }
        return sums.filter { !$0.value.isZero }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
