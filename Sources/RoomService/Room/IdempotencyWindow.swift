import EventStorage
import FoundationEssentials

/// The keyed commands of one room that are remembered: the newest ``CommandKey/window``.
struct IdempotencyWindow: Sendable {
    /// A key as one session gave it.
    struct Name: Hashable, Sendable {
        var session: UUID
        var key: String
    }

    private var byName: [Name: CommandKey] = [:]
    private var byOrdinal: [Int: Name] = [:]

    /// The command first given under this name, if it is still remembered.
    func command(_ name: Name) -> CommandKey? {
        byName[name]
    }

    /// Remembers a command, and forgets what falls out of the window.
    ///
    /// Commands come in their order; where some were left out, whoever gave them has forgotten them, and all before
    /// them.
    mutating func remember(_ command: CommandKey) {
        if byOrdinal[command.ordinal - 1] == nil { self = IdempotencyWindow() }
        let name = Name(session: command.session, key: command.key)
        byName[name] = command
        byOrdinal[command.ordinal] = name
        let old = command.ordinal - CommandKey.window
        guard let forgotten = byOrdinal.removeValue(forKey: old), byName[forgotten]?.ordinal == old else { return }
        byName[forgotten] = nil
    }
}
