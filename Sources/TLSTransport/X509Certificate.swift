internal import COpenSSL

/// One reference to an X.509 certificate.
@safe struct X509Certificate: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes over the caller's reference.
    @unsafe init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    /// Reads the first certificate of a PEM file's content; `nil` if there is none.
    init?(pem: [UInt8]) {
        OpenSSLError.clearQueue()
        let memory = MemoryBIO(pem)
        guard let pointer = unsafe PEM_read_bio_X509(memory.pointer, nil, nil, nil) else {
            OpenSSLError.clearQueue()
            return nil
        }
        unsafe self.pointer = pointer
    }

    /// Makes a certificate for a server, signed by an authority.
    ///
    /// `names` are host names and addresses, each valid by ``HostName``; `validity` is in seconds since the Unix epoch.
    static func make(
        for key: borrowing PrivateKey, commonName: String, names: [String], validity: Range<Int>,
        signedBy authority: borrowing X509Certificate, with authorityKey: borrowing PrivateKey
    ) throws(TLSFault) -> X509Certificate {
        let certificate = try empty()
        let alternatives = names.map { (HostName.isAddress($0) ? "IP:" : "DNS:") + $0 }.joined(separator: ",")
        guard certificate.setVersionAndSerialNumber(), certificate.setValidity(validity),
            certificate.setSubject(commonName), certificate.setIssuer(authority), certificate.setKey(key),
            certificate.add(NID_subject_alt_name, alternatives),
            certificate.add(NID_basic_constraints, "critical,CA:FALSE"),
            certificate.add(NID_key_usage, "critical,digitalSignature"),
            certificate.add(NID_ext_key_usage, "serverAuth"),
            certificate.add(NID_subject_key_identifier, "hash"),
            certificate.addAuthorityKeyIdentifier(of: authority),
            certificate.sign(with: authorityKey)
        else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        return certificate
    }

    /// Makes an authority's certificate, signed with its own key.
    ///
    /// It makes servers' certificates trusted, and no others: neither further authorities nor servers of other names.
    ///
    /// `permitted` are domains and networks as OpenSSL reads them, such as `DNS:localhost` and `IP:10.0.0.0/255.0.0.0`.
    static func makeAuthority(
        key: borrowing PrivateKey, commonName: String, permitted: [String], validity: Range<Int>
    ) throws(TLSFault) -> X509Certificate {
        let certificate = try empty()
        let constraints = permitted.map { "permitted;\($0)" }.joined(separator: ",")
        guard certificate.setVersionAndSerialNumber(), certificate.setValidity(validity),
            certificate.setSubject(commonName), certificate.setIssuer(certificate), certificate.setKey(key),
            certificate.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
            certificate.add(NID_key_usage, "critical,keyCertSign"),
            certificate.add(NID_name_constraints, "critical,\(constraints)"),
            certificate.add(NID_subject_key_identifier, "hash"),
            certificate.sign(with: key)
        else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        return certificate
    }

    private static func empty() throws(TLSFault) -> X509Certificate {
        OpenSSLError.clearQueue()
        guard let pointer = unsafe X509_new() else { throw TLSFault.setup(OpenSSLError.takeLast()) }
        return unsafe X509Certificate(owning: pointer)
    }

    deinit {
        unsafe X509_free(pointer)
    }

    /// The SHA-256 of the certificate's DER form; `nil` only when memory is short.
    var fingerprint: SHA256Digest? {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        // Writes exactly the 32 bytes of a SHA-256.
        guard unsafe X509_digest(pointer, EVP_sha256(), &bytes, nil) == 1 else { return nil }
        return SHA256Digest(bytes: bytes)
    }

    /// The PEM form; `nil` only when memory is short.
    var pem: [UInt8]? {
        let memory = MemoryBIO()
        return unsafe PEM_write_bio_X509(memory.pointer, pointer) == 1 ? memory.bytes : nil
    }

    /// The binary form; `nil` only when memory is short.
    var der: [UInt8]? {
        let count = unsafe Int(i2d_X509(pointer, nil))
        guard count > 0 else { return nil }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            // Writes exactly as many bytes as it said, which is the capacity.
            var place = bytes.baseAddress
            written = unsafe Int(i2d_X509(pointer, &place))
        }
    }

    /// The subject's common name; `nil` if it has none.
    var commonName: String? {
        var text = [CChar](repeating: 0, count: 256)
        // Writes at most the given size, terminated. The name belongs to the certificate.
        let count = unsafe X509_NAME_get_text_by_NID(
            X509_get_subject_name(pointer), NID_commonName, &text, Int32(text.count))
        return count < 0 ? nil : String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the certificate is valid from `from` to `to`, in seconds since the Unix epoch.
    func isValid(from: Int, to: Int) -> Bool {
        // The times belong to the certificate. -2 stands for a malformed one.
        let start = unsafe ASN1_TIME_cmp_time_t(X509_get0_notBefore(pointer), from)
        let end = unsafe ASN1_TIME_cmp_time_t(X509_get0_notAfter(pointer), to)
        return (-1...0).contains(start) && (0...1).contains(end)
    }

    /// Whether the certificate covers a host name or an address.
    func covers(_ name: String) -> Bool {
        HostName.isAddress(name)
            ? unsafe X509_check_ip_asc(pointer, name, 0) == 1
            : unsafe X509_check_host(pointer, name, name.utf8.count, 0, nil) == 1
    }

    /// Whether the certificate contains the public half of `key`.
    func belongs(to key: borrowing PrivateKey) -> Bool {
        defer { OpenSSLError.clearQueue() }
        return unsafe X509_check_private_key(pointer, key.pointer) == 1
    }

    /// Whether the certificate is signed with the private half of `authority`'s key, and names it as its issuer.
    func isSigned(by authority: borrowing X509Certificate) -> Bool {
        defer { OpenSSLError.clearQueue() }
        // The key belongs to the certificate.
        guard let key = unsafe X509_get0_pubkey(authority.pointer) else { return false }
        return unsafe X509_check_issued(authority.pointer, pointer) == X509_V_OK && X509_verify(pointer, key) == 1
    }

    /// Whether the authority's constraints permit all names of the certificate.
    func isPermitted(by authority: borrowing X509Certificate) -> Bool {
        defer { OpenSSLError.clearQueue() }
        guard let constraints = unsafe X509_get_ext_d2i(authority.pointer, NID_name_constraints, nil, nil) else {
            return false
        }
        let permitted = unsafe constraints.assumingMemoryBound(to: NAME_CONSTRAINTS.self)
        // The call above made them for us.
        defer { unsafe NAME_CONSTRAINTS_free(permitted) }
        // The check of a purpose reads the alternative names, which the check of constraints expects to be read.
        return unsafe X509_check_purpose(pointer, -1, 0) == 1
            && NAME_CONSTRAINTS_check(pointer, permitted) == X509_V_OK
    }

    private borrowing func setVersionAndSerialNumber() -> Bool {
        var random = SystemRandomNumberGenerator()
        // RFC 5280 §4.1.2.2: positive, and hard to guess.
        let serial = UInt64.random(in: 1...UInt64(Int64.max), using: &random)
        // RFC 5280 §4.1.2.1: 2 means version 3.
        return unsafe X509_set_version(pointer, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial) == 1
    }

    private borrowing func setValidity(_ validity: Range<Int>) -> Bool {
        unsafe ASN1_TIME_set(X509_getm_notBefore(pointer), validity.lowerBound) != nil
            && ASN1_TIME_set(X509_getm_notAfter(pointer), validity.upperBound) != nil
    }

    private borrowing func setSubject(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        // The name belongs to the certificate.
        return unsafe X509_NAME_add_entry_by_NID(
            X509_get_subject_name(pointer), NID_commonName, MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
    }

    private borrowing func setIssuer(_ issuer: borrowing X509Certificate) -> Bool {
        // The call copies the name.
        unsafe X509_set_issuer_name(pointer, X509_get_subject_name(issuer.pointer)) == 1
    }

    private borrowing func setKey(_ key: borrowing PrivateKey) -> Bool {
        unsafe X509_set_pubkey(pointer, key.pointer) == 1
    }

    private borrowing func sign(with key: borrowing PrivateKey) -> Bool {
        unsafe X509_sign(pointer, key.pointer, EVP_sha256()) > 0
    }

    private borrowing func addAuthorityKeyIdentifier(of issuer: borrowing X509Certificate) -> Bool {
        add(NID_authority_key_identifier, "keyid:always", issuer: issuer)
    }

    private borrowing func add(_ extensionID: Int32, _ value: String) -> Bool { add(extensionID, value, issuer: self) }

    private borrowing func add(_ extensionID: Int32, _ value: String, issuer: borrowing X509Certificate) -> Bool {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer.pointer, pointer, nil, nil, 0)
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, extensionID, value) else { return false }
        // The certificate has copied it, so ours is freed.
        defer { unsafe X509_EXTENSION_free(made) }
        return unsafe X509_add_ext(pointer, made, -1) == 1
    }
}
