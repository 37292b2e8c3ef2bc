/// The cost of reading a peer's bytes since the last query, which a caller charges in addition to the messages.
package struct ReadingCost: Equatable, Sendable {
    /// Complete frames, including fragments, control frames and empty frames.
    package var frames = 0
    /// Bytes of their payloads; for a compressed message, its inflated size if that is larger.
    package var bytes = 0

    /// Makes a cost of zero.
    package init() {}

    /// Adds a complete frame.
    mutating func add(frameOf length: Int) {
        self.frames += 1
        self.bytes += length
    }

    /// Adds the size of an inflated message beyond its payload, which its frames have added.
    mutating func add(inflated length: Int, from payload: Int) {
        self.bytes += max(0, length - payload)
    }
}
