internal import COpenSSL

/// The rules for a host's name, in certificates and for servers to connect to.
enum HostName {
    /// The most characters of a host name (RFC 1035 §2.3.4, without the trailing dot).
    static let limit = 253

    /// Whether `name` consists of labels of letters, digits, hyphens and underscores.
    static func isValid(_ name: String) -> Bool {
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return name.utf8.count <= limit
            && labels.allSatisfy { label in
                // RFC 1035 §2.3.4: at most 63 characters.
                (1...63).contains(label.count) && label.allSatisfy(isLabelCharacter)
            }
    }

    /// Whether `name` is an IPv4 or IPv6 address.
    static func isAddress(_ name: String) -> Bool {
        guard let octets = unsafe a2i_IPADDRESS(name) else {
            ERR_clear_error()
            return false
        }
        // The call above made it for us.
        unsafe ASN1_OCTET_STRING_free(octets)
        return true
    }

    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
