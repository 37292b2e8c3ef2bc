package import Rehearsal

/// How a conversation is held with a program.
package struct StageSettings: Sendable {
    /// The program and its arguments.
    package var program: [String]
    /// Whether every message is cut at every byte.
    package var isCut: Bool
    /// The time for one conversation, in milliseconds.
    package var timeoutMs: Int64
    /// The longest time that may go by in a conversation where the program cannot set its clock, in milliseconds; nil:
    /// any time.
    package var patienceMs: Int64?

    package init(program: [String], isCut: Bool = false, timeoutMs: Int64 = 60_000, patienceMs: Int64? = 15_000) {
        self.program = program
        self.isCut = isCut
        self.timeoutMs = timeoutMs
        self.patienceMs = patienceMs
    }
}

/// What came of one conversation.
package struct StageReport: Sendable {
    package let conversation: Conversation
    package let result: PlayerResult
    /// What happened, line by line.
    package let transcript: [String]
    /// The end of what the program wrote to its standard error.
    package let errors: String
    /// The time that it took, in milliseconds.
    package let milliseconds: Int64
}
