import HTTPTypes
import WebSocketCodec

/// The policy of an answer: how a browser may use it, and how long it may keep it.
struct AnswerPolicy: Sendable, Equatable {
    /// The use that a browser makes of an answer.
    enum Content: Sendable {
        /// Given to the script that requested it: it loads nothing, runs nothing, and cannot be framed.
        case data
        /// A page, or a part of one: it loads its scripts, styles and data from this server only.
        case page
    }

    /// Whether an answer may be cached (RFC 9111 §5.2.2).
    enum Caching: Sendable {
        /// It may not be stored.
        case never
        /// Any cache may store it, and must revalidate it before each use.
        case revalidated
        /// Any cache may store it for a year: the content of its path never changes.
        case immutable
        /// The cache of one browser may store it for a year: the content of its path never changes.
        case privateImmutable
    }

    var content: Content
    var caching: Caching

    /// Data that may not be stored.
    static let data = AnswerPolicy(content: .data, caching: .never)

    /// Data whose path always has the same content, and that only some may see.
    static let privateData = AnswerPolicy(content: .data, caching: .privateImmutable)

    /// A page, or a part of one.
    static func page(_ caching: Caching) -> AnswerPolicy { AnswerPolicy(content: .page, caching: caching) }

    /// The value of `Cache-Control`.
    var cacheControl: String {
        switch caching {
        case .never: "no-store"
        case .revalidated: "no-cache"
        case .immutable: "public, max-age=31536000, immutable"
        case .privateImmutable: "private, max-age=31536000, immutable"
        }
    }

    fileprivate var contentSecurity: String {
        switch content {
        case .data: "default-src 'none'; frame-ancestors 'none'"
        case .page:
            "default-src 'self'; img-src 'self' blob:; media-src blob:; object-src 'none'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                + "trusted-types backline"
        }
    }

    /// What a page may ask of the device, and whether pages of other origins share its process; nothing for data.
    fileprivate var ofPages: [(name: String, value: String)] {
        switch content {
        case .data: []
        case .page:
            [
                (
                    "Permissions-Policy",
                    "geolocation=(self), screen-wake-lock=(self), autoplay=(self), microphone=(), camera=()"
                ), ("Cross-Origin-Opener-Policy", "same-origin"),
            ]
        }
    }
}

/// The fields that tell browsers what they may do with an answer.
///
/// Every HTTP answer has them. A field that a route has set is kept, and missing ones are added.
struct SecurityFields: Sendable {
    /// The names and values.
    let fields: [(name: String, value: String)]

    /// Makes the fields of a policy.
    ///
    /// `isSecure` says that this server itself ends TLS, and so may require it for later visits; behind a proxy, that
    /// is the proxy's task.
    init(_ policy: AnswerPolicy = .data, isSecure: Bool) {
        var fields = [
            (name: "X-Content-Type-Options", value: "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", policy.cacheControl), ("Content-Security-Policy", policy.contentSecurity),
        ]
        fields += policy.ofPages
        // RFC 6797 §6.1: a year.
        if isSecure { fields.append(("Strict-Transport-Security", "max-age=31536000")) }
        self.fields = fields
    }

    /// Adds the fields that `answer` lacks.
    func add(to answer: inout HTTPFields) {
        for field in fields {
            guard let name = HTTPField.Name(field.name), answer[name] == nil else { continue }
            answer[name] = field.value
        }
    }

    /// The fields in the form that the answer to an opening handshake needs.
    var headerFields: [HeaderField] { fields.compactMap { HeaderField($0.name, $0.value) } }
}
