internal import COpenSSL

/// What OpenSSL said when a call failed: its packed error code and the text that belongs to it.
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// OpenSSL's packed error code (library and reason); 0 where OpenSSL gave none.
    package let code: UInt

    /// OpenSSL's words for the reason, such as `no start line`.
    package let description: String

    /// Whether the error says that a certificate and a private key do not belong together.
    var isKeyMismatch: Bool {
        backline_error_library(code) == ERR_LIB_X509
            && [X509_R_KEY_VALUES_MISMATCH, X509_R_KEY_TYPE_MISMATCH].contains(backline_error_reason(code))
    }

    /// Takes the newest error from this thread's queue and empties the queue.
    ///
    /// The newest entry is the one that names the actual reason when a file or a certificate was
    /// refused: a deeper layer's `no start line`, a verification's `certificate verify failed`.
    static func takeLast() -> Self {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return Self(code: code)
    }

    /// Empties this thread's error queue.
    ///
    /// `SSL_get_error` looks at the queue first: an entry that an earlier call left there, on this
    /// thread but for another connection, would be taken for a failure of this one.
    static func clearQueue() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    init(code: UInt, description: String) {
        self.code = code
        self.description = description
    }

    private init(code: UInt) {
        self.code = code
        // OpenSSL 3: an operating system error carries errno in place of a reason and has no text of its own.
        if let text = unsafe ERR_reason_error_string(code) {
            // A NUL-terminated constant of the library, which is never unloaded.
            description = unsafe String(cString: text)
        } else {
            description = code == 0 ? "no reason given" : "error \(String(code, radix: 16))"
        }
    }
}
