package import NIOCore

/// How rooms answer subscriptions: what can be resumed, and how states are encoded.
package struct AnswerSettings: Sendable {
    /// The number of events that a client may resume; for more it gets a snapshot.
    package var resumableEvents = 10_000
    /// The bytes of payload that are read for a client that resumes; for more it gets a snapshot.
    package var resumableBytes = 8 << 20
    /// About how many bytes of JSON a state has from which on it is encoded and compressed outside the event loop.
    package var longStateBytes = 1 << 16
    /// Compresses a state for clients that want it; nil if it becomes no shorter.
    package var compressState: @Sendable (ByteBuffer) -> ByteBuffer? = { _ in nil }
    /// About how many bytes of deltas one answer has; a client that lacks more asks for the rest when it has taken
    /// them.
    package var answeredDeltaBytes = 49_152
}
