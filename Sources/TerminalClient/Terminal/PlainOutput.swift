import Glibc

/// Standard output, a line at a time.
struct PlainOutput: Sendable {
    let signs: Signs

    /// Prints a line for people; false if nobody reads any more.
    @discardableResult
    func print(_ line: String) -> Bool {
        write(signs.isASCII ? SafeText.ascii(line) : SafeText.line(line))
    }

    /// Prints a line for programs, exactly.
    @discardableResult
    func print(_ value: SafeJSON) -> Bool { write(value.line) }

    private func write(_ line: String) -> Bool { Descriptor.write(Array((line + "\n").utf8), to: STDOUT_FILENO) }

    /// Prints a line about what is going on, which is no result.
    static func note(_ line: String) {
        _ = Descriptor.write(Array(("backline: " + SafeText.line(line) + "\n").utf8), to: STDERR_FILENO)
    }
}

/// Writing to a descriptor.
enum Descriptor {
    /// Writes all bytes, in one call if the system takes them; false if nobody reads any more.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer does not leave the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // The structure is used during the call only.
                _ = unsafe poll(&state, 1, -1)
            default: return false
            }
        }
        return true
    }
}
