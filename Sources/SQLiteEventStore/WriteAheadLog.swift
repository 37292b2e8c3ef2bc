import Foundation

/// A database's write-ahead log, as far as it tells what SQLite passes over in silence.
///
/// SQLite reads a log up to the first frame that is not whole, since the last transaction before a crash may be torn: of
/// a damaged log it takes the beginning, and of one whose beginning is damaged, nothing. The
/// [format](https://sqlite.org/fileformat2.html#the_write_ahead_log) has a header, and frames of a header and a page.
struct WriteAheadLog {
    private static let headerLength = 32
    private static let frameHeaderLength = 24

    /// Whether its header is whole, and is that of the first frame; else SQLite takes it for an empty one.
    let begins: Bool
    private let file: FileHandle
    private let header: [UInt8]

    /// Opens the log at a path; nil if there is none, or nothing in it.
    init?(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        file = try FileHandle(forReadingFrom: URL(filePath: path))
        let start = try Self.read(file, Self.headerLength + Self.frameHeaderLength)
        guard !start.isEmpty else { return nil }
        header = Array(start.prefix(Self.headerLength))
        let isComplete = start.count == Self.headerLength + Self.frameHeaderLength
        guard isComplete, Self.number(start, 0) & ~1 == 0x377F_0682,
            Checksum(ofHeader: header).matches(header[24...])
        else {
            begins = false
            return
        }
        // A log begins anew at its beginning: then frames of the one before stand behind the new header.
        let salt = Self.number(start, 16)
        begins = [salt, salt &- 1].contains(Self.number(start, Self.headerLength + 8))
    }

    /// Whether a frame is not whole before one that was written later than it, and so was on the disk before; or whether a
    /// page is neither in the log nor in the database's file, which has `fileLength` bytes.
    ///
    /// Nobody may write the log meanwhile.
    func lacksSomething(fileLength: Int) throws -> Bool {
        guard begins else { return false }
        let pageSize = Int(Self.number(header, 8))
        var sum = Checksum(ofHeader: header)
        try file.seek(toOffset: UInt64(Self.headerLength))
        var isWhole = true
        var hasCommit = false
        var (pages, ofTransaction) = (Set<Int>(), Set<Int>())
        var length = 0
        while true {
            let frame = try Self.read(file, Self.frameHeaderLength + pageSize)
            guard frame.count == Self.frameHeaderLength + pageSize else { break }
            let isOfThisLog = frame[8..<16] == header[16..<24]
            let committed = Int(Self.number(frame, 4))
            if isWhole, isOfThisLog {
                sum.add(frame[..<8])
                sum.add(frame[Self.frameHeaderLength...])
            }
            isWhole = isWhole && isOfThisLog && sum.matches(frame[16..<24])
            if isWhole {
                ofTransaction.insert(Int(Self.number(frame, 0)))
                guard committed > 0 else { continue }
                pages.formUnion(ofTransaction)
                ofTransaction = []
                length = committed
            } else if isOfThisLog, committed > 0 {
                // The next transaction is written once the one before it is on the disk. Frames without a commit may be of
                // one that was rolled back, behind the last transaction.
                if hasCommit { return true }
                hasCommit = true
            }
        }
        guard length > 0, pageSize > 0 else { return false }
        // SQLite never uses the page with this byte.
        pages.insert((1 << 30) / pageSize + 1)
        return (fileLength / pageSize..<max(fileLength / pageSize, length)).contains { !pages.contains($0 + 1) }
    }

    private static func read(_ file: FileHandle, _ count: Int) throws -> [UInt8] {
        try file.read(upToCount: count).map { Array($0) } ?? []
    }

    private static func number(_ bytes: [UInt8], _ position: Int) -> UInt32 {
        bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// The checksum of a write-ahead log, in which each frame's goes on from the one before it.
private struct Checksum {
    let isBigEndian: Bool
    private var (first, second): (UInt32, UInt32) = (0, 0)

    /// Begins with a log's header, which tells how numbers are read, and has its own sum behind its other fields.
    init(ofHeader header: [UInt8]) {
        isBigEndian = header[3] & 1 == 1
        add(header[..<24])
    }

    /// Adds bytes, eight at a time.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var (first, second) = (first, second)
        unsafe bytes.withUnsafeBytes { bytes in
            for position in stride(from: 0, to: bytes.count - 7, by: 8) {
                first &+= word(unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)) &+ second
                second &+= word(unsafe bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)) &+ first
            }
        }
        (self.first, self.second) = (first, second)
    }

    /// Whether it is the one that is written in these eight bytes.
    func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.reduce(0) { $0 << 8 | UInt64($1) } == UInt64(first) << 32 | UInt64(second)
    }

    private func word(_ loaded: UInt32) -> UInt32 {
        isBigEndian ? UInt32(bigEndian: loaded) : UInt32(littleEndian: loaded)
    }
}
