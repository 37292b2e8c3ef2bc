/// Reports a tool's progress to the operator every few seconds, on standard error.
final class ProgressReport {
    private let began = ContinuousClock.now
    private var last = ContinuousClock.now

    /// Prints `text`, and the rate of events, unless the last report was just before.
    func tell(_ text: @autoclosure () -> String, events: Int? = nil) {
        let now = ContinuousClock.now
        guard now - last >= .seconds(2) else { return }
        last = now
        Console.error(text() + (events.map { " (\(rate(of: $0)))" } ?? ""))
    }

    /// The average rate of events since the beginning, in events a second.
    func rate(of events: Int) -> String {
        let elapsed = ContinuousClock.now - began
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return "\(Int(Double(events) / max(seconds, 0.001))) events/s"
    }
}
