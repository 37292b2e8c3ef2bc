import EventStorage
import FoundationEssentials

/// The keyed commands of one room that are remembered: the newest ``CommandKey/window`` of them.
struct IdempotencyWindow: Sendable {
    /// A key, with the session that gave it.
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

    /// Remembers a command, and forgets those that leave the window.
    ///
    /// Commands are given in order. If some are left out, the caller has forgotten them, and all that came before them.
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
