import NIOCore

/// The steps of a machine that are not taken yet.
///
/// Steps are taken one at a time, in order. Those that a step causes come after the remaining ones, in whatever call they
/// are added.
struct StepQueue<Step> {
    private var waiting: CircularBuffer<Step> = []
    private var isTaking = false

    /// Adds steps; returns whether the caller has to take all that wait (``next()``), because no other call does.
    mutating func add(_ steps: [Step]) -> Bool {
        waiting.append(contentsOf: steps)
        defer { isTaking = true }
        return !isTaking
    }

    /// The next step; nil if there is none, which ends the taking.
    mutating func next() -> Step? {
        let step = waiting.popFirst()
        isTaking = step != nil
        return step
    }
}
