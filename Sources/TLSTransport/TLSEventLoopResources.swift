internal import COpenSSL
internal import NIOCore

/// What the TLS connections of one event loop share: the BIO through which OpenSSL reads and writes, and the buffers.
///
/// A connection borrows all of it for the length of one call into OpenSSL and leaves it empty, so that
/// between calls it owns nothing but its `SSL` object: that is what keeps an idle connection small.
///
/// Confined to its event loop. Nothing here calls out: no handler, promise or other connection can run
/// while a call into OpenSSL uses the buffers.
@safe package final class TLSEventLoopResources {
    /// The most plaintext that one TLS record carries (RFC 8446 §5.1).
    static let recordLimit = 16_384

    /// The most ciphertext that is copied when it is taken, and what the buffer has room for from the start.
    static let copyLimit = 4_096

    /// Plaintext that the connection in charge has decrypted and not yet handed on.
    var plaintext = ByteBuffer()

    /// Plaintext of several writes, joined for one record; meaningless between calls.
    var joined = ByteBuffer()

    /// Ciphertext that OpenSSL has written for the connection in charge.
    private(set) var ciphertext = ByteBuffer()

    /// For `TLSConnection` alone, which hands it to its `SSL`.
    @unsafe let bio: OpaquePointer

    /// The connection whose bytes are in `ciphertext`.
    private var owner: UInt = 0

    /// What is left of the bytes given to the call into OpenSSL that is under way; empty otherwise.
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
        // Unretained: the BIO is only ever called for a connection, and a connection retains its resources.
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Connections hold references of their own to the BIO, but are gone: they retain `self`.
        unsafe BIO_free(bio)
    }

    /// Lets `body` call into OpenSSL on behalf of `connection`, which reads from `input` what it needs.
    ///
    /// - Precondition: no other connection has left ciphertext behind: it would be sent to the wrong peer.
    func lend<Result>(to connection: UInt, _ input: inout ByteBuffer, _ body: () -> Result) -> Result {
        precondition(ciphertext.readableBytes == 0 || owner == connection, "ciphertext of another connection")
        owner = connection
        return unsafe input.readWithUnsafeReadableBytes { bytes in
            // Valid until this closure returns, which is when `input` becomes empty again.
            unsafe self.input = bytes
            let result = body()
            let left = unsafe self.input.count
            unsafe self.input = UnsafeRawBufferPointer(start: nil, count: 0)
            return (bytes.count - left, result)
        }
    }

    /// Returns the ciphertext written so far in a buffer that may be kept, and leaves none.
    ///
    /// Little is copied, and what fills less than half of its storage, so that a slow peer's queue does not hold on to
    /// much more memory than it has bytes; else the storage is given away.
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

    /// Forgets what `connection` has left behind.
    func discardCiphertext(of connection: UInt) {
        if owner == connection { ciphertext.clear() }
    }

    /// What OpenSSL's `BIO_read` does: hands out the bytes that were lent, then asks for more.
    fileprivate func read(into destination: UnsafeMutableRawBufferPointer) -> Int {
        let count = unsafe min(destination.count, input.count)
        guard count > 0 else { return 0 }
        unsafe destination.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        unsafe input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    /// What OpenSSL's `BIO_write` does: keeps the bytes until the connection takes them.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        if ciphertext.capacity == 0 { ciphertext.reserveCapacity(Self.copyLimit) }
        unsafe ciphertext.writeBytes(bytes)
    }
}

/// The BIO method table of `TLSEventLoopResources`.
///
/// One BIO serves many connections. During a handshake OpenSSL puts a buffering BIO of the connection's own
/// in front of it (`BIO_push`), which writes that BIO's address into the shared one (`prev_bio`); only
/// `BIO_pop` of the shared BIO itself would follow it, and nobody calls that.
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
