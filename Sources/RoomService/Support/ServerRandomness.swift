/// Where the server's identifiers, codes and epochs get their randomness.
package struct ServerRandomness: RandomNumberGenerator, Sendable {
    private let read: @Sendable () -> UInt64

    /// Randomness read from `read`, on any thread; nobody else may foresee it.
    package init(_ read: @escaping @Sendable () -> UInt64) {
        self.read = read
    }

    /// The machine's.
    package static let system = ServerRandomness { .random(in: 0 ... .max) }

    package func next() -> UInt64 { read() }
}
