/// A kind of work that runs outside the event loops.
package enum HeavyWorkKind: String, Sendable, CaseIterable {
    /// Encoding and compressing a room's state, once for all who follow it.
    case encoding
    /// Pages of a pool, and searches in it.
    case pool
    /// Parts of a log, and rooms at earlier positions.
    case log
    /// Questions about what is counted.
    case statistics
    /// Reads of what is counted for those who watch it, and for answers that are shared by all.
    case watched
}
