/// The most bytes that a client may send, and that may wait to be sent.
package struct SizeLimits: Sendable {
    /// The longest message that a client may send, in bytes; the longest body of a request as well.
    package var maximumMessageLength = 256 * 1024
    /// The longest head of a request, in bytes.
    package var maximumHeadLength = 16 * 1024
    /// The most bytes of deltas that may wait for one connection.
    ///
    /// Beyond it they are dropped, and the connection gets a snapshot once it has taken the rest.
    package var maximumOutgoingBytes = 49_152
    /// The most bytes that wait for all peers together, in memory that no other peer shares; 0: any number.
    package var maximumWaitingBytes = 256 << 20
    /// The most of them that wait for peers of one address; 0: any number.
    package var maximumWaitingBytesPerAddress = 64 << 20
}
