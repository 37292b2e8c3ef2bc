extension Array {
    /// Splits the elements, in order, into parts of `size`, which must be positive; the last part may be shorter.
    func parts(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
