import Glibc

extension WebFolder {
    /// The version of the files as they are now: 16 hexadecimal digits that change with the path, the length or the
    /// time of any file.
    ///
    /// The first 10,000 entries are looked at, links are not followed.
    package func version() -> String {
        var lines: [String] = []
        var folders = [""]
        var left = Self.entryLimit
        while left > 0, let folder = folders.popLast() {
            for name in Self.names(in: "\(root)/\(folder)", atMost: left) {
                left -= 1
                let path = folder.isEmpty ? name : "\(folder)/\(name)"
                var status = stat()
                guard WebPath.isValid(path), unsafe lstat("\(root)/\(path)", &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { folders.append(path) }
                guard WebFileType(path: path) != nil else { continue }
                let stamp = Stamp(status)
                lines.append("\(path) \(stamp.size) \(stamp.seconds) \(stamp.nanoseconds)")
            }
        }
        return WebFile.shortDigest(Array(lines.sorted().joined(separator: "\n").utf8))
    }

    private static func names(in folder: String, atMost limit: Int) -> [String] {
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while names.count < limit, let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                // The system ends each name with a zero.
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if WebPath.isValid(name) { names.append(name) }
        }
        return names
    }
}
