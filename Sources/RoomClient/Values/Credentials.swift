/// Who a client is.
public struct Credentials: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case token(String)
        case guest(name: String)
    }

    let kind: Kind

    /// A session that exists, or a token of another identity provider that the server accepts.
    public static func token(_ token: String) -> Self { Self(kind: .token(token)) }

    /// A guest, under a name of 1 to 40 characters.
    ///
    /// The session is made when the client first connects, and its token is kept in the store. When the session is over,
    /// the next ``RoomClient/run()`` makes another one.
    public static func guest(name: String) -> Self { Self(kind: .guest(name: name)) }
}
