import WebSocketCodec

/// The fields that tell browsers to do nothing with an answer but hand it to who asked.
///
/// Every HTTP answer has them; none of them is a page, so none may load or be framed by anything.
struct SecurityFields: Sendable {
    /// Names and values.
    let fields: [(name: String, value: String)]

    /// `isSecure`: whether TLS is the server's own; otherwise it is for the proxy to say that it stays.
    init(isSecure: Bool) {
        var fields = [
            (name: "X-Content-Type-Options", value: "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"), ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ]
        // RFC 6797 §6.1: a year.
        if isSecure { fields.append(("Strict-Transport-Security", "max-age=31536000")) }
        self.fields = fields
    }

    /// The fields as the answer to an opening handshake has them.
    var headerFields: [HeaderField] { fields.compactMap { HeaderField($0.name, $0.value) } }
}
