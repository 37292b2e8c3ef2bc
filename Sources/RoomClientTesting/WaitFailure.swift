/// What was waited for has not come: what was there instead, in words.
public struct WaitFailure: Error, Sendable, CustomStringConvertible {
    /// What was waited for, where in the test, and what was there instead.
    public let description: String

    init(_ description: String) { self.description = description }
}
