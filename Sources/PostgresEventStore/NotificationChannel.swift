import EventStorage

/// A channel of LISTEN and NOTIFY.
struct NotificationChannel: Hashable, Sendable {
    /// Its name: lower-case letters, digits, `_` and `-`, so that it can stand in double quotes.
    let name: String

    /// The channel of all servers.
    static let everybody = NotificationChannel(name: "backline")

    /// The channel of one server; nil if the name cannot be a server's.
    ///
    /// An identifier has at most 63 bytes (PostgreSQL documentation, "Identifiers and Key Words").
    static func server(_ node: String) -> NotificationChannel? {
        let isName =
            (1...48).contains(node.utf8.count)
            && node.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
        return isName ? NotificationChannel(name: "backline_\(node)") : nil
    }

    private init(name: String) {
        self.name = name
    }
}

/// Receives the notifications of a pool's connection; called on the pool's executor.
protocol NotificationListener: AnyObject, Sendable {
    /// The pool now listens to the channels.
    func listeningBegan()
    /// The pool no longer listens; it connects again by itself.
    func listeningEnded()
    /// A notification arrived; `sender` is the number of the PostgreSQL process that sent it.
    func notified(_ payload: [UInt8], from sender: Int32)
}
