/// A property that does not hold for an input: the tested code is wrong.
package struct BrokenProperty: Error, Equatable, CustomStringConvertible {
    /// The part that does not hold, with the values.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws if `condition` does not hold.
func require(_ condition: Bool, _ description: @autoclosure () -> String) throws(BrokenProperty) {
    guard condition else { throw BrokenProperty(description()) }
}
