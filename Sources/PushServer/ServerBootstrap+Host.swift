import Glibc
import NIOCore
import NIOPosix
import SystemCalls

extension ServerBootstrap {
    /// Listens at a host: at the first of its addresses at which that is possible.
    ///
    /// A name such as `localhost` has an IPv4 and an IPv6 address, of which a machine may have one. Looking it up blocks.
    ///
    /// - Throws: ``HostLookup/Fault`` if the host is neither an address nor a name that can be resolved; an `IOError` of
    ///   the first address otherwise.
    func bind(firstOf host: String, port: Int) async throws -> any Channel {
        var refusal: IOError?
        for address in try HostLookup.addresses(of: host, onlyReachable: false).get() {
            do {
                return try await bind(to: SocketAddress(ipAddress: address, port: port)).get()
            } catch let error as IOError where [EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode) {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? IOError(errnoCode: EADDRNOTAVAIL, reason: "bind")
    }
}
