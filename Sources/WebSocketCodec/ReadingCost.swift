/// What reading a peer's bytes has taken since somebody asked last: what a caller charges, beside what a step says.
package struct ReadingCost: Equatable, Sendable {
    /// Complete frames: those of fragments, control frames and empty ones among them.
    package var frames = 0
    /// Bytes of their payloads; of a compressed message those that it became, where they are more.
    package var bytes = 0

    /// Nothing.
    package init() {}

    /// Adds a complete frame.
    mutating func add(frameOf length: Int) {
        self.frames += 1
        self.bytes += length
    }

    /// Adds what a compressed message became beyond its payload, which was added with its frames.
    mutating func add(inflated length: Int, from payload: Int) {
        self.bytes += max(0, length - payload)
    }
}
