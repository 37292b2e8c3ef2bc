import NIOCore

/// The limits that hold for one connection because of the address that its peer comes from.
///
/// It holds the connection's places among those of the address, and makes the account of bytes that wait on it. Copies
/// hold the same places.
struct PeerLimits {
    private let peer: SocketAddress?
    private let addresses: AddressLimit
    private let admission: Admission
    /// The connection's place among those that have made no request.
    private var newcomer: AddressLimit.Ticket?
    private var ownAccount: WaitingBytes.Account?

    /// The connection's place among those of the address; nil if they are not counted.
    private(set) var ticket: AddressLimit.Ticket?

    /// Takes the places of a new connection; nil if its address has too many that have made no request.
    init?(of peer: SocketAddress?, _ addresses: AddressLimit, _ admission: Admission) {
        self.peer = peer
        self.addresses = addresses
        self.admission = admission
        newcomer = addresses.admitNewcomer(peer)
        guard newcomer?.isOverLimit != true else { return nil }
        ticket = addresses.admit(peer)
    }

    /// Whether the connection is one too many of its address.
    var isOverLimit: Bool { ticket?.isOverLimit == true }

    /// The account of bytes that wait on the connection.
    var account: WaitingBytes.Account { ownAccount ?? admission.account(of: peer, forwardedFor: []) }

    /// The value that stands for the address that the handshake comes from; nil if the address does not count.
    var network: UInt64? { ownAccount?.network }

    /// The connection has made a request.
    mutating func requestCame() {
        newcomer = nil
    }

    /// Counts an opening handshake, for the address in the proxy's `X-Forwarded-For` if it comes through a proxy.
    ///
    /// Traffic through a proxy holds a place of that address from then on.
    mutating func count(forwardedFor fields: [String]) throws(HandshakeRefusal) {
        do throws(CommandFailure) {
            try admission.request(from: peer, forwardedFor: fields)
        } catch {
            throw .failure(error)
        }
        if let forwarded = addresses.admit(through: peer, forwardedFor: fields) { ticket = forwarded }
        ownAccount = admission.account(of: peer, forwardedFor: fields)
        guard !isOverLimit else { throw .tooManyConnections }
    }
}
