import CZlib

/// Files in gzip's format (RFC 1952), by zlib.
package enum Gzip {
    /// zlib's level, for the smallest result: a file is compressed once and sent often.
    private static let level: Int32 = 9

    /// Returns the compressed bytes, the same for the same bytes; nil only when memory is short.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard unsafe backline_gzip_init(&stream, level) == Z_OK else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let capacity = unsafe Int(deflateBound(&stream, UInt(bytes.count)))
        var isComplete = false
        let result = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            // One call compresses everything, since the output has room for the longest result.
            unsafe bytes.withUnsafeBufferPointer { input in
                unsafe stream.next_in = input.baseAddress
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.baseAddress
                unsafe stream.avail_out = UInt32(capacity)
                isComplete = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
            }
            count = unsafe capacity - Int(stream.avail_out)
        }
        return isComplete ? result : nil
    }
}
