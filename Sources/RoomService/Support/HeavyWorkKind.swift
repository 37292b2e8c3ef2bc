/// A kind of work that runs beside the event loops.
package enum HeavyWorkKind: String, Sendable, CaseIterable {
    /// What a room makes once for all who follow it: its state, encoded and compressed.
    case encoding
    /// Pages of a pool, and searches in it.
    case pool
    /// Parts of a log, and rooms as they were.
    case log
}
