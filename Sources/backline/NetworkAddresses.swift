import NIOCore

/// The machine's addresses in its networks.
enum NetworkAddresses {
    /// The most addresses that are used.
    static let limit = 16

    /// The beginnings of the names of interfaces that lead to containers and virtual machines of this machine.
    private static let virtual = ["docker", "br-", "veth", "virbr", "cni", "flannel", "podman"]

    /// The addresses at which devices of the same network reach a server that listens on `host`, which is a wildcard
    /// address; empty for any other host.
    ///
    /// IPv6 addresses count only if they are unique local ones (RFC 4193), because the others change too often to be
    /// read out or printed.
    static func reaching(_ host: String) -> [String] {
        guard host == "0.0.0.0" || host == "::" else { return [] }
        let devices = (try? System.enumerateDevices()) ?? []
        var found: [String] = []
        for device in devices where !virtual.contains(where: { device.name.hasPrefix($0) }) {
            guard let address = device.address, let text = address.ipAddress, !found.contains(text) else { continue }
            switch address {
            case .v4 where !text.hasPrefix("127.") && !text.hasPrefix("169.254."): found.append(text)
            case .v6 where host == "::" && (text.hasPrefix("fc") || text.hasPrefix("fd")): found.append(text)
            case .v4, .v6, .unixDomainSocket: break
            }
        }
        return Array(found.prefix(limit))
    }
}
