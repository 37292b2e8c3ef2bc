internal import COpenSSL
internal import NIOCore

/// The parts that the TLS connections of one event loop share: the BIO for OpenSSL's input and output, and the buffers.
///
/// A connection borrows all of it for one call into OpenSSL and leaves it empty, so that between calls it owns nothing
/// except its `SSL` object: this keeps an idle connection small.
///
/// Confined to its event loop. This code calls no other code: no handler, promise or other connection can run while a
/// call into OpenSSL uses the buffers.
@safe package final class TLSEventLoopResources {
    /// The most plaintext that one TLS record carries (RFC 8446 §5.1).
    static let recordLimit = 16_384

    /// The most ciphertext that is copied when it is taken, and the initial capacity of the buffer.
    static let copyLimit = 4_096

    /// Plaintext that the active connection has decrypted and not yet passed on.
    var plaintext = ByteBuffer()

    /// Plaintext of several writes, joined for one record; its contents have no meaning between calls.
    var joined = ByteBuffer()

    /// Ciphertext that OpenSSL has written for the active connection.
    private(set) var ciphertext = ByteBuffer()

    /// For `TLSConnection` only, which passes it to its `SSL`.
    @unsafe let bio: OpaquePointer

    /// The connection whose bytes are in `ciphertext`.
    private var owner: UInt = 0

    /// The unread part of the bytes given to the current call into OpenSSL; empty between calls.
    private var input = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

    /// Makes the shared parts for one event loop.
    ///
    /// - Throws: ``TLSFault/setup(_:)`` when memory is short.
    package init() throws(TLSFault) {
        OpenSSLError.clearQueue()
        guard let method = unsafe SharedBIO.method, let bio = unsafe BIO_new(method) else {
            throw TLSFault.setup(OpenSSLError.takeLast())
        }
        unsafe self.bio = bio
        // Unretained: the BIO is called only for a connection, and a connection retains its resources.
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Connections hold their own references to the BIO, but no connection exists any more: each retains `self`.
        unsafe BIO_free(bio)
    }

    /// Runs `body`, which calls into OpenSSL for `connection` and reads as much of `input` as it needs.
    ///
    /// - Precondition: no other connection has left ciphertext behind: it would be sent to the wrong peer.
    func lend<Result>(to connection: UInt, _ input: inout ByteBuffer, _ body: () -> Result) -> Result {
        precondition(ciphertext.readableBytes == 0 || owner == connection, "ciphertext of another connection")
        owner = connection
        return unsafe input.readWithUnsafeReadableBytes { bytes in
            // Valid until this closure returns; then `input` becomes empty again.
            unsafe self.input = bytes
            let result = body()
            let left = unsafe self.input.count
            unsafe self.input = UnsafeRawBufferPointer(start: nil, count: 0)
            return (bytes.count - left, result)
        }
    }

    /// Returns the ciphertext written so far in a buffer that may be kept, and leaves none.
    ///
    /// Small amounts are copied, and so are bytes that fill less than half of their storage, so that a slow peer's
    /// queue does not hold much more memory than it has bytes. Otherwise the storage itself is given away.
    func takeCiphertext(_ allocator: ByteBufferAllocator) -> ByteBuffer {
        let count = ciphertext.readableBytes
        guard count <= Self.copyLimit || 2 * count < ciphertext.storageCapacity else {
            let taken = ciphertext
            ciphertext = ByteBuffer()
            return taken
        }
        let taken = allocator.buffer(buffer: ciphertext)
        ciphertext.clear()
        return taken
    }

    /// Removes the first `count` bytes of the ciphertext: they have been sent.
    func dropCiphertext(_ count: Int) {
        ciphertext.moveReaderIndex(forwardBy: count)
        if ciphertext.readableBytes == 0 { ciphertext.clear() }
    }

    /// Drops the ciphertext that `connection` has left behind.
    func discardCiphertext(of connection: UInt) {
        if owner == connection { ciphertext.clear() }
    }

    /// Implements OpenSSL's `BIO_read`: returns the borrowed bytes, then asks for more.
    fileprivate func read(into destination: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(destination.count, input.count)
        guard count > 0 else { return 0 }
        unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        unsafe input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    /// Implements OpenSSL's `BIO_write`: keeps the bytes until the connection takes them.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        if ciphertext.capacity == 0 { ciphertext.reserveCapacity(Self.copyLimit) }
        unsafe ciphertext.writeBytes(bytes)
    }
}

/// The BIO method table of `TLSEventLoopResources`.
///
/// One BIO serves many connections. During a handshake, OpenSSL puts a buffering BIO of the connection in front of it
/// (`BIO_push`), which writes that BIO's address into the shared one (`prev_bio`). Only `BIO_pop` of the shared BIO
/// itself would follow that address, and no code calls it.
private enum SharedBIO {
    // nonisolated(unsafe): made once under the lock of `static let`, never changed or freed; OpenSSL only reads it.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        guard let method = unsafe BIO_meth_new(backline_bio_type_source_sink(), "event loop") else { return nil }
        unsafe BIO_meth_set_create(method) { bio in
            unsafe BIO_set_init(bio, 1)
            return 1
        }
        unsafe BIO_meth_set_destroy(method) { _ in 1 }
        unsafe BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
        unsafe BIO_meth_set_read(method) { bio, bytes, count in
            guard let bio = unsafe bio, let bytes = unsafe bytes, let data = unsafe BIO_get_data(bio) else { return -1 }
            unsafe backline_bio_clear_retry_flags(bio)
            // The object is alive: see `TLSEventLoopResources.init`. `count` bytes at `bytes` are OpenSSL's to fill.
            let resources = unsafe Unmanaged<TLSEventLoopResources>.fromOpaque(data)
            let read = unsafe resources._withUnsafeGuaranteedRef {
                unsafe $0.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            }
            if read > 0 { return Int32(read) }
            unsafe backline_bio_set_retry_read(bio)
            return -1
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, count in
            guard let bio = unsafe bio, let bytes = unsafe bytes, let data = unsafe BIO_get_data(bio) else { return -1 }
            unsafe backline_bio_clear_retry_flags(bio)
            let resources = unsafe Unmanaged<TLSEventLoopResources>.fromOpaque(data)
            unsafe resources._withUnsafeGuaranteedRef {
                unsafe $0.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }
            return count
        }
        return unsafe method
    }()
}
