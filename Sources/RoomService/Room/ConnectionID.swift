/// A connection's number, unique in this process.
package struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}
