internal import COpenSSL
internal import Glibc
internal import Synchronization

/// The keys under which a server's context encrypts session tickets (RFC 5077 §4): a new one each day.
///
/// Tickets of the day before are still read, and renewed; a client with an older one makes a full handshake. So whoever
/// gets hold of the process's memory can read recorded sessions of two days at most that were resumed without a new key
/// exchange (TLS 1.2). A ticket itself is of use for two hours, which is OpenSSL's own limit.
final class TicketKeys: Sendable {
    /// For how long tickets are made with one key, in seconds.
    static let lifetime = 86_400

    /// One key: a name that stands in its tickets, and secrets to encrypt and to authenticate them.
    private struct Key {
        static let length = 16 + 32 + 32

        /// The three parts, one after the other.
        var bytes: [UInt8]
        /// Since when it is used.
        var since: Int

        init?(since: Int) {
            var bytes = [UInt8](repeating: 0, count: Self.length)
            // Fills the array.
            guard unsafe RAND_bytes(&bytes, Int32(bytes.count)) == 1 else { return nil }
            self.bytes = bytes
            self.since = since
        }
    }

    private struct State {
        var current: Key?
        var previous: Key?
    }

    /// What a ticket's name says of it.
    enum Age {
        case current
        /// Of the day before: to be replaced by a new one.
        case previous
        case unknown
    }

    /// Seconds on a clock that never goes back.
    private let now: @Sendable () -> Int
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Int = TicketKeys.secondsSinceBoot) {
        self.now = now
    }

    /// Lets a server's context use these keys, which have to live as long as the context.
    func attach(to context: OpaquePointer) -> Bool {
        // The context keeps the pointer and frees nothing.
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque()) == 1
            && backline_ctx_set_ticket_keys(context, useTicketKey) == 1
    }

    /// The bytes of the key for new tickets; nil where the system gives no randomness.
    func forSealing() -> [UInt8]? {
        state.withLock { state in
            rotate(&state)
            return state.current?.bytes
        }
    }

    /// The bytes of the key of this name.
    func forOpening(_ name: [UInt8]) -> (age: Age, bytes: [UInt8]) {
        state.withLock { state in
            rotate(&state)
            if let key = state.current, Self.is(name, of: key) { return (.current, key.bytes) }
            if let key = state.previous, Self.is(name, of: key) { return (.previous, key.bytes) }
            return (.unknown, [])
        }
    }

    private static func `is`(_ name: [UInt8], of key: Key) -> Bool {
        name[...] == key.bytes[..<16]
    }

    /// Keeps at most two keys, the older of which was replaced less than a day ago.
    private func rotate(_ state: inout State) {
        let now = now()
        guard let current = state.current else {
            state.current = Key(since: now)
            return
        }
        let age = now - current.since
        guard age >= Self.lifetime, let next = Key(since: now) else { return }
        // Where nobody came for a day, the tickets of this one are older than a day as well.
        state.previous = age < 2 * Self.lifetime ? current : nil
        state.current = next
    }

    private static func secondsSinceBoot() -> Int {
        var time = timespec()
        // Filled during the call. Goes on while the machine sleeps.
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec
    }
}

/// Names the key for a new ticket, or finds that of a ticket that came, and makes both ciphers ready.
///
/// Called by OpenSSL inside a handshake, on the connection's thread. Gives 1 for a ticket that is taken, 2 for one that
/// is also to be replaced, 0 for one that is not, and less where nothing can be done.
private func useTicketKey(
    _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?,
    _ cipher: OpaquePointer?, _ code: OpaquePointer?, _ seals: Int32
) -> Int32 {
    // The keys live as long as the context, and that as long as each of its connections.
    guard let ssl = unsafe ssl, let name = unsafe name, let vector = unsafe vector,
        let stored = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
    else { return -1 }
    let keys = unsafe Unmanaged<TicketKeys>.fromOpaque(stored).takeUnretainedValue()
    if seals == 1 {
        guard let bytes = keys.forSealing() else { return -1 }
        // OpenSSL gives room for a name of 16 bytes and for an initialisation vector.
        for index in 0..<16 { unsafe name[index] = bytes[index] }
        guard unsafe RAND_bytes(vector, 16) == 1 else { return -1 }
        return unsafe backline_ticket_ciphers(cipher, code, bytes, vector, 1) == 1 ? 1 : -1
    }
    let (age, bytes) = unsafe keys.forOpening(Array(UnsafeBufferPointer(start: name, count: 16)))
    guard age != .unknown else { return 0 }
    guard unsafe backline_ticket_ciphers(cipher, code, bytes, vector, 0) == 1 else { return -1 }
    // RFC 8446 §C.4: a client of TLS 1.3 uses a ticket once, and gets a new one each time.
    return unsafe age == .previous || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1
}
