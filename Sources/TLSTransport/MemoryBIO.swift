internal import COpenSSL

/// Bytes in memory that OpenSSL's PEM functions read from or write to.
@safe struct MemoryBIO: ~Copyable {
    /// For the code that reads or writes it; `nil` if memory is short, with which OpenSSL's functions fail.
    @unsafe let pointer: OpaquePointer?

    /// Makes an empty BIO for writing.
    init() {
        unsafe pointer = BIO_new(BIO_s_mem())
    }

    /// Makes a BIO that holds a copy of `bytes`.
    init(_ bytes: [UInt8]) {
        unsafe pointer = BIO_new(BIO_s_mem())
        if !bytes.isEmpty { _ = unsafe BIO_write(pointer, bytes, Int32(clamping: bytes.count)) }
    }

    deinit {
        unsafe BIO_free(pointer)
    }

    /// A copy of the bytes written so far.
    var bytes: [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        guard unsafe pointer != nil, case let count = unsafe backline_bio_memory(pointer, &start), count > 0 else {
            return []
        }
        // The bytes belong to the BIO, which lives until after the copy.
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
