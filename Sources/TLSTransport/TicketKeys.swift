internal import COpenSSL
internal import Glibc
internal import Synchronization

/// The keys under which a server's context encrypts session tickets (RFC 5077 §4): a new one each day.
///
/// Tickets of the day before are still accepted, and renewed; a client with an older one makes a full handshake.
/// Somebody who reads the process's memory can therefore decrypt recorded sessions of at most two days that were
/// resumed without a new key exchange (TLS 1.2). A ticket itself is valid for two hours, which is OpenSSL's own limit.
final class TicketKeys: Sendable {
    /// The time for which one key makes tickets, in seconds.
    static let lifetime = 86_400

    /// One key: a name that is part of its tickets, and secrets to encrypt and to authenticate them.
    private struct Key {
        static let length = 16 + 32 + 32

        /// The three parts, one after the other.
        var bytes: [UInt8]
        /// The time since which it has been used.
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

    /// The age of the key that a ticket names.
    enum Age {
        case current
        /// The key of the day before: the ticket is to be replaced by a new one.
        case previous
        case unknown
    }

    /// The time in seconds on a clock that never goes back.
    private let now: @Sendable () -> Int
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Int = TicketKeys.secondsSinceBoot) {
        self.now = now
    }

    /// Makes a server's context use these keys, which must live as long as the context.
    func attach(to context: OpaquePointer) -> Bool {
        // The context keeps the pointer and frees nothing.
        unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque()) == 1
            && backline_ctx_set_ticket_keys(context, useTicketKey) == 1
    }

    /// The bytes of the key for new tickets; nil if the system provides no random bytes.
    func forSealing() -> [UInt8]? {
        state.withLock { state in
            rotate(&state)
            return state.current?.bytes
        }
    }

    /// The bytes of the key with this name.
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
        // If no ticket was made for a day, the tickets of this key are older than a day as well.
        state.previous = age < 2 * Self.lifetime ? current : nil
        state.current = next
    }

    private static func secondsSinceBoot() -> Int {
        var time = timespec()
        // Filled during the call. The clock continues while the machine sleeps.
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec
    }
}

/// Selects the key for a new ticket or finds the key of a received one, and prepares both ciphers.
///
/// OpenSSL calls it inside a handshake, on the connection's thread. Returns 1 for an accepted ticket, 2 for one that
/// must also be replaced, 0 for one that is not accepted, and a negative number on failure.
private func useTicketKey(
    _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?, _ vector: UnsafeMutablePointer<UInt8>?,
    _ cipher: OpaquePointer?, _ code: OpaquePointer?, _ seals: Int32
) -> Int32 {
    // The keys live as long as the context, and the context as long as each of its connections.
    guard let ssl = unsafe ssl, let name = unsafe name, let vector = unsafe vector,
        let stored = unsafe SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), 0)
    else { return -1 }
    let keys = unsafe Unmanaged<TicketKeys>.fromOpaque(stored).takeUnretainedValue()
    if seals == 1 {
        guard let bytes = keys.forSealing() else { return -1 }
        // OpenSSL provides room for a name of 16 bytes and for an initialisation vector.
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
