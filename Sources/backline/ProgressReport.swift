/// Tells an operator every few seconds how far a tool is, on standard error.
final class ProgressReport {
    private let began = ContinuousClock.now
    private var last = ContinuousClock.now

    /// Says `text`, and how many events went by in a second, unless something was said just before.
    func tell(_ text: @autoclosure () -> String, events: Int? = nil) {
        let now = ContinuousClock.now
        guard now - last >= .seconds(2) else { return }
        last = now
        Console.error(text() + (events.map { " (\(rate(of: $0)))" } ?? ""))
    }

    /// How many events went by in a second, since the beginning.
    func rate(of events: Int) -> String {
        let elapsed = ContinuousClock.now - began
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return "\(Int(Double(events) / max(seconds, 0.001))) events/s"
    }
}
