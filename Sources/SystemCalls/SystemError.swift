internal import Glibc

/// The error of a failed system call: its `errno`.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The value of `errno`.
    package let code: Int32

    /// Makes an error of this number.
    package init(code: Int32) {
        self.code = code
    }

    /// The system's text for it, such as `No such file or directory`.
    package var description: String {
        let text = unsafe [CChar](unsafeUninitializedCapacity: 128) { buffer, count in
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count) == 0 else { return }
            // POSIX: on success the text is terminated within the given size.
            count = unsafe strlen(start)
        }
        return text.isEmpty ? "error \(code)" : String(decoding: text.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The error's name if it is one that a process out of resources gets, such as `EMFILE`; otherwise its number.
    package var name: String {
        switch code {
        case EAGAIN: "EAGAIN"
        case EMFILE: "EMFILE"
        case ENFILE: "ENFILE"
        case ENOMEM: "ENOMEM"
        case ENOSPC: "ENOSPC"
        default: "errno \(code)"
        }
    }

    /// Whether the machine has run out of something, which may pass: disk, memory, descriptors.
    package var isExhaustion: Bool { [ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE].contains(code) }

    /// The error of the system call that has just failed on this thread.
    package static var current: Self { Self(code: errno) }
}
