extension Array {
    /// The elements in order, in parts of `size` each but for the last one; `size` is positive.
    func parts(of size: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}
