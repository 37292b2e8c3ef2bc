import EventStorage
import Glibc
import Synchronization
import SystemCalls

/// One server of a connection string, as libpq reads its lists of hosts and ports.
struct PostgresHost: Hashable, Sendable {
    /// A name, an address, or the folder of a socket.
    var host: String
    /// The address, where the string gives it beside the name.
    var address: String?
    /// The port; empty: the default.
    var port: String

    /// Whether the name has to be looked up before anybody can connect.
    var isName: Bool {
        guard address == nil, !host.hasPrefix("/"), !host.hasPrefix("@") else { return false }
        var bytes = in6_addr()
        // The bytes are written during the calls only, and an IPv4 address fits into those of an IPv6 one.
        return unsafe inet_pton(AF_INET, host, &bytes) != 1 && inet_pton(AF_INET6, host, &bytes) != 1
    }
}

/// The addresses of a database's servers, tried one after the other.
///
/// Names are looked up on a thread of their own, because a name server that does not answer holds that thread for half a
/// minute. Until it answers, the addresses that were found last are used.
final class PostgresAddresses: Sendable {
    /// Looks a name up.
    ///
    /// Returns its addresses, or the reason why it has none. Blocks.
    typealias Resolver = @Sendable (String) -> Result<[String], HostLookup.Fault>

    private struct State {
        /// The addresses of each name that were found last.
        var known: [String: [String]] = [:]
        var fault: HostLookup.Fault?
        var isLookingUp = false
        var lookedUpAt: ContinuousClock.Instant?
    }

    /// The time for which what was looked up is not looked up again.
    static let freshness = Duration.seconds(1)

    private let hosts: [PostgresHost]
    private let names: [String]
    private let resolve: Resolver
    private let state = Mutex(State())

    /// `hosts` is empty where libpq has to find the server by itself.
    init(_ hosts: [PostgresHost], resolve: @escaping Resolver = PostgresAddresses.systemLookup) {
        self.hosts = hosts
        self.resolve = resolve
        var names: [String] = []
        for host in hosts where host.isName && !names.contains(host.host) { names.append(host.host) }
        self.names = names
    }

    /// What is known of the addresses.
    enum Known: Hashable {
        /// The addresses in the order in which they are tried; nil is one that libpq finds.
        case addresses([PostgresHost?])
        /// They are being looked up; the caller is told the end.
        case awaited
        /// No name has an address.
        case none(HostLookup.Fault)
    }

    /// Returns the addresses, and looks names up that have not been looked up for a while; never blocks.
    ///
    /// `done` is called on another thread when a lookup that this call has begun has ended.
    func take(at now: ContinuousClock.Instant, done: @escaping @Sendable () -> Void) -> Known {
        guard !names.isEmpty else { return .addresses(hosts.isEmpty ? [nil] : hosts) }
        let (known, mustLookUp) = state.withLock { state -> (Known, Bool) in
            let isFresh = state.lookedUpAt.map { now < $0 + Self.freshness } ?? false
            let mustLookUp = !state.isLookingUp && !isFresh
            if mustLookUp { state.isLookingUp = true }
            let found = addresses(state.known)
            if !found.isEmpty { return (.addresses(found), mustLookUp) }
            if let fault = state.fault, !state.isLookingUp { return (.none(fault), mustLookUp) }
            return (.awaited, mustLookUp)
        }
        if mustLookUp {
            do throws(SystemError) {
                try DetachedThread.run { [self] in
                    lookUp()
                    done()
                }
            } catch {
                // The next call tries again.
                state.withLock { $0.isLookingUp = false }
                if known == .awaited { return .none(HostLookup.Fault(message: "no thread to look names up: \(error)")) }
            }
        }
        return known
    }

    private func addresses(_ known: [String: [String]]) -> [PostgresHost] {
        hosts.flatMap { host -> [PostgresHost] in
            guard host.isName else { return [host] }
            return (known[host.host] ?? []).map { PostgresHost(host: host.host, address: $0, port: host.port) }
        }
    }

    private func lookUp() {
        var found: [String: [String]] = [:]
        var fault: HostLookup.Fault?
        for name in names {
            switch resolve(name) {
            case .success(let addresses): found[name] = addresses
            case .failure(let reason): fault = reason
            }
        }
        state.withLock { state in
            state.known.merge(found) { $1 }
            state.fault = fault
            state.isLookingUp = false
            state.lookedUpAt = .now
        }
    }

    /// Looks a name up as the system does.
    static let systemLookup: Resolver = { HostLookup.addresses(of: $0, onlyReachable: true) }
}
