internal import COpenSSL

/// The error of a failed OpenSSL call: its packed error code and the text that belongs to it.
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// OpenSSL's packed error code (library and reason); 0 if OpenSSL gave none.
    package let code: UInt

    /// OpenSSL's text for the reason, such as `no start line`.
    package let description: String

    /// Whether the error says that a certificate and a private key do not belong together.
    var isKeyMismatch: Bool {
        let reason = backline_error_reason(code)
        return switch backline_error_library(code) {
        case ERR_LIB_X509: reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH
        // A key of another type goes into a slot of its own, which has no certificate.
        case ERR_LIB_SSL: reason == SSL_R_NO_CERTIFICATE_ASSIGNED
        default: false
        }
    }

    /// Takes the newest error from this thread's queue and empties the queue.
    ///
    /// An entry that only names the deeper layer that failed (`PEM lib`) is passed over for the one before it.
    static func takeLast() -> Self {
        var last: UInt = 0
        while case let code = ERR_get_error(), code != 0 {
            if last == 0 || backline_error_is_nested(code) == 0 { last = code }
        }
        return Self(code: last)
    }

    /// Empties this thread's error queue.
    ///
    /// `SSL_get_error` looks at the queue first: an entry left there by an earlier call, on this thread but for another
    /// connection, would be taken for a failure of this one.
    static func clearQueue() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    init(code: UInt, description: String) {
        self.code = code
        self.description = description
    }

    private init(code: UInt) {
        self.code = code
        // OpenSSL 3: an operating system error carries errno instead of a reason and has no text of its own.
        if let text = unsafe ERR_reason_error_string(code) {
            // A NUL-terminated constant of the library, which is never unloaded.
            description = unsafe String(cString: text)
        } else {
            description = code == 0 ? "no reason given" : "error \(String(code, radix: 16))"
        }
    }
}
