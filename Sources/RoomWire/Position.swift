/// How far a client has come in a room; one indivisible value.
package struct Position: Sendable, Hashable {
    /// The room's epoch: random text, fixed while the room's log is.
    package var epoch: String
    /// The number of the last event the client has; 0 where it has none.
    package var seq: Int

    package init(epoch: String, seq: Int) {
        self.epoch = epoch
        self.seq = seq
    }
}
