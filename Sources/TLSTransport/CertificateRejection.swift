internal import COpenSSL

/// The reason why a client does not accept a server's certificate.
package struct CertificateRejection: Hashable, Sendable, CustomStringConvertible {
    /// The kind of reason, as far as a person can do something about it.
    package enum Kind: Hashable, Sendable {
        /// A certificate of the chain is no longer valid.
        case expired
        /// A certificate of the chain is not valid yet; often the client's clock is wrong.
        case notYetValid
        /// The chain does not end at an authority that the client trusts; a certificate signed by itself, for example.
        case unknownAuthority
        /// The certificate is for other host names or addresses.
        case otherName
        /// Anything else.
        case other
    }

    /// The kind of reason.
    package let kind: Kind
    /// OpenSSL's text for the reason, such as `certificate has expired`.
    package let description: String

    /// Makes the reason of a result of OpenSSL's verification that is not `X509_V_OK`.
    init(_ result: Int) {
        kind =
            switch Int32(clamping: result) {
            case X509_V_ERR_CERT_HAS_EXPIRED: .expired
            case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
                X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
                .unknownAuthority
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .otherName
            default: .other
            }
        // A NUL-terminated constant of the library.
        description = unsafe String(cString: X509_verify_cert_error_string(result))
    }
}
