import HTTPTypes
import WebSocketCodec

/// What a browser may do with an answer, and for how long it may keep it.
struct AnswerPolicy: Sendable, Equatable {
    /// What an answer is to a browser.
    enum Content: Sendable {
        /// Handed to the script that asked: it loads nothing, runs nothing and is framed by nothing.
        case data
        /// A page, or a part of one: it loads its scripts, its styles and its data from this server, and nothing else.
        case page
    }

    /// Whether an answer may be kept (RFC 9111 §5.2.2).
    enum Caching: Sendable {
        /// Not at all.
        case never
        /// By anybody who asks before each use whether it is still current.
        case revalidated
        /// By anybody, for a year: what is at its path never changes.
        case immutable
    }

    var content: Content
    var caching: Caching

    /// Data that is not kept.
    static let data = AnswerPolicy(content: .data, caching: .never)

    /// A page, or a part of one.
    static func page(_ caching: Caching) -> AnswerPolicy { AnswerPolicy(content: .page, caching: caching) }

    fileprivate var cacheControl: String {
        switch caching {
        case .never: "no-store"
        case .revalidated: "no-cache"
        case .immutable: "public, max-age=31536000, immutable"
        }
    }

    fileprivate var contentSecurity: String {
        switch content {
        case .data: "default-src 'none'; frame-ancestors 'none'"
        case .page:
            "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        }
    }
}

/// The fields that tell browsers what they may do with an answer.
///
/// Every HTTP answer has them. They are added to what an answer lacks: a field that a route has set stays.
struct SecurityFields: Sendable {
    /// Names and values.
    let fields: [(name: String, value: String)]

    /// `isSecure`: whether TLS is the server's own; otherwise it is for the proxy to say that it stays.
    init(_ policy: AnswerPolicy = .data, isSecure: Bool) {
        var fields = [
            (name: "X-Content-Type-Options", value: "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", policy.cacheControl), ("Content-Security-Policy", policy.contentSecurity),
        ]
        // RFC 6797 §6.1: a year.
        if isSecure { fields.append(("Strict-Transport-Security", "max-age=31536000")) }
        self.fields = fields
    }

    /// Adds those that `answer` lacks.
    func add(to answer: inout HTTPFields) {
        for field in fields {
            guard let name = HTTPField.Name(field.name), answer[name] == nil else { continue }
            answer[name] = field.value
        }
    }

    /// The fields as the answer to an opening handshake has them.
    var headerFields: [HeaderField] { fields.compactMap { HeaderField($0.name, $0.value) } }
}
