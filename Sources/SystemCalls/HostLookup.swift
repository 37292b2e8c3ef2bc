internal import Glibc

/// The addresses of a host's name, as the system finds them.
package enum HostLookup {
    /// The reason why a name has no address.
    package struct Fault: Error, Hashable, Sendable {
        /// One line with the name.
        package var message: String

        package init(message: String) {
            self.message = message
        }
    }

    /// Looks a name up, or takes an address as it is.
    ///
    /// It blocks, for half a minute where a name server does not answer. With `onlyReachable`, addresses of a kind that
    /// no interface of this machine has are left out.
    package static func addresses(of name: String, onlyReachable: Bool) -> Result<[String], Fault> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = onlyReachable ? AI_ADDRCONFIG : 0
        var list: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, nil, &hints, &list)
        defer { unsafe freeaddrinfo(list) }
        guard code == 0 else {
            // The text is constant.
            let reason = unsafe gai_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
            return .failure(Fault(message: "the name \(name) has no address: \(reason)"))
        }
        var addresses: [String] = []
        var entry = unsafe list
        while let current = unsafe entry {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            // Writes at most the given size, terminated.
            let failed = unsafe getnameinfo(
                current.pointee.ai_addr, current.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if failed == 0, !addresses.contains(address) { addresses.append(address) }
            unsafe entry = current.pointee.ai_next
        }
        guard !addresses.isEmpty else { return .failure(Fault(message: "the name \(name) has no address")) }
        return .success(addresses)
    }
}
