/// The names that files of the page may have.
package enum WebPath {
    /// The most characters of a path.
    static let limit = 256
    /// The most segments of a path.
    static let depth = 8

    /// Whether `path` can name a file: 1 to 8 segments of ASCII letters, digits, `.`, `-` and `_`, none of which begins
    /// with a dot, 256 characters at most.
    ///
    /// No such path leads out of its folder, and none has two spellings.
    package static func isValid(_ path: some StringProtocol) -> Bool {
        guard path.utf8.count <= limit else { return false }
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.count <= depth
            && segments.allSatisfy { segment in
                guard let first = segment.first, first != UInt8(ascii: ".") else { return false }
                return segment.allSatisfy(isAllowed)
            }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
