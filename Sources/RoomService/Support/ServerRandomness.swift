/// The source of randomness for the server's identifiers, codes and epochs.
package struct ServerRandomness: RandomNumberGenerator, Sendable {
    private let read: @Sendable () -> UInt64

    /// Makes a source from `read`, which is called on any thread and must be unpredictable.
    package init(_ read: @escaping @Sendable () -> UInt64) {
        self.read = read
    }

    /// The machine's source.
    package static let system = ServerRandomness { .random(in: 0 ... .max) }

    package func next() -> UInt64 { read() }
}
