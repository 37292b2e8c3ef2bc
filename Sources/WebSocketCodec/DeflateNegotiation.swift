extension DeflateParameters {
    /// Server: accepts the first acceptable one of a client's offers (RFC 7692 §5.1).
    ///
    /// Returns `nil` if there is none; the connection then continues without compression.
    ///
    /// Other extensions are ignored. An offer with a parameter that is unknown, repeated or has a wrong value is
    /// declined, and the next one is tried (§7). The response includes the policy's parameters where §7.1 allows a
    /// server to add them unasked: no context takeover in either direction and the server's own window. The client's
    /// window is limited only if the client offered `client_max_window_bits`.
    ///
    /// - Parameters:
    ///   - offers: The client's offers, in its order of preference.
    ///   - policy: The server's preferences.
    /// - Returns: The agreed parameters, and the response that contains them.
    package static func negotiate(
        _ offers: [ExtensionOffer], policy: DeflatePolicy = .noContextTakeover
    ) -> (parameters: DeflateParameters, response: ExtensionOffer)? {
        for offer in offers where offer.name == Self.extensionName {
            guard let fields = DeflateFields(offer: offer) else { continue }
            let serverBits = min(fields.serverMaxWindowBits ?? 15, policy.serverMaxWindowBits)
            // RFC 7692 §7.1.2.2: not allowed in a response to an offer without it
            let clientBits = fields.clientMaxWindowBits.map { min($0 ?? 15, policy.clientMaxWindowBits) }
            var response = DeflateFields()
            response.serverNoContextTakeover = fields.serverNoContextTakeover || policy.serverNoContextTakeover
            response.clientNoContextTakeover = fields.clientNoContextTakeover || policy.clientNoContextTakeover
            if fields.serverMaxWindowBits != nil || serverBits < 15 { response.serverMaxWindowBits = serverBits }
            if let clientBits, clientBits < 15 || fields.clientMaxWindowBits == .some(.some(15)) {
                response.clientMaxWindowBits = .some(clientBits)
            }
            guard let answer = response.offer else { continue }
            let parameters = DeflateParameters(
                serverNoContextTakeover: response.serverNoContextTakeover,
                clientNoContextTakeover: response.clientNoContextTakeover, serverMaxWindowBits: serverBits,
                clientMaxWindowBits: clientBits ?? 15)
            return (parameters, answer)
        }
        return nil
    }

    /// Client: makes the offers.
    ///
    /// `client_max_window_bits` is always included, because this codec can limit itself to any window.
    package static func offers(_ policy: DeflatePolicy = .noContextTakeover) -> [ExtensionOffer] {
        var fields = DeflateFields()
        fields.serverNoContextTakeover = policy.serverNoContextTakeover
        fields.clientNoContextTakeover = policy.clientNoContextTakeover
        fields.serverMaxWindowBits = policy.serverMaxWindowBits < 15 ? policy.serverMaxWindowBits : nil
        fields.clientMaxWindowBits = .some(policy.clientMaxWindowBits < 15 ? policy.clientMaxWindowBits : nil)
        return fields.offer.map { [$0] } ?? []
    }

    /// Client: checks the server's response to the offers.
    ///
    /// - Parameters:
    ///   - response: The extensions in the server's response.
    ///   - offers: The offers of this client.
    /// - Returns: The agreed parameters; `nil` if the server does not compress.
    /// - Throws: ``HandshakeViolation/invalidDeflateResponse`` for a response that answers none of the offers: it has a
    ///   parameter that is unknown, repeated, out of range or not requested, lacks one that the offer requires, or is
    ///   given twice (RFC 7692 §5.1, §7).
    package static func agree(
        on response: [ExtensionOffer], to offers: [ExtensionOffer]
    ) throws(HandshakeViolation) -> DeflateParameters? {
        let answers = response.filter { $0.name == Self.extensionName }
        guard let answer = answers.first else { return nil }
        guard answers.count == 1, let fields = DeflateFields(response: answer) else { throw .invalidDeflateResponse }
        for offer in offers where offer.name == Self.extensionName {
            guard let asked = DeflateFields(offer: offer), fields.answers(asked) else { continue }
            return DeflateParameters(
                serverNoContextTakeover: fields.serverNoContextTakeover,
                clientNoContextTakeover: fields.clientNoContextTakeover || asked.clientNoContextTakeover,
                serverMaxWindowBits: fields.serverMaxWindowBits ?? 15,
                // RFC 7692 §7.1.2.2: the client keeps to the value of its own offer
                clientMaxWindowBits: (fields.clientMaxWindowBits ?? asked.clientMaxWindowBits ?? 15) ?? 15)
        }
        throw .invalidDeflateResponse
    }
}

/// The parameters of one offer or response, each at most once and with a valid value (RFC 7692 §7.1).
private struct DeflateFields {
    var serverNoContextTakeover = false
    var clientNoContextTakeover = false
    var serverMaxWindowBits: Int?
    /// The outer optional tells whether the parameter is present; the inner one is its value.
    var clientMaxWindowBits: Int??

    init() {}

    /// Reads an offer, in which `client_max_window_bits` may have no value.
    init?(offer: ExtensionOffer) {
        for parameter in offer.parameters {
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil):
                guard !self.serverNoContextTakeover else { return nil }
                self.serverNoContextTakeover = true
            case ("client_no_context_takeover", nil):
                guard !self.clientNoContextTakeover else { return nil }
                self.clientNoContextTakeover = true
            case ("server_max_window_bits", let value?):
                guard self.serverMaxWindowBits == nil, let bits = Self.bits(value) else { return nil }
                self.serverMaxWindowBits = bits
            case ("client_max_window_bits", let value):
                guard self.clientMaxWindowBits == nil else { return nil }
                let bits = value.flatMap(Self.bits)
                guard (bits == nil) == (value == nil) else { return nil }
                self.clientMaxWindowBits = .some(bits)
            default:
                return nil
            }
        }
    }

    /// Reads a response, in which every window has a value.
    init?(response: ExtensionOffer) {
        self.init(offer: response)
        if case .some(.none) = self.clientMaxWindowBits { return nil }
    }

    /// Whether these are valid parameters of a server's response to the offer `asked`.
    func answers(_ asked: DeflateFields) -> Bool {
        // RFC 7692 §7.1.1.1: required by the offer, so it must be in the response
        if asked.serverNoContextTakeover, !self.serverNoContextTakeover { return false }
        // RFC 7692 §7.1.2.1: required by the offer, with the same value or a smaller one
        if let limit = asked.serverMaxWindowBits {
            guard let bits = self.serverMaxWindowBits, bits <= limit else { return false }
        }
        // RFC 7692 §7.1.2.2: only if it was offered, and at most the offered value
        if let bits = self.clientMaxWindowBits {
            guard let limit = asked.clientMaxWindowBits else { return false }
            return (bits ?? 15) <= (limit ?? 15)
        }
        return true
    }

    /// The offer or response with these parameters.
    var offer: ExtensionOffer? {
        var parameters: [ExtensionOffer.Parameter?] = []
        if self.serverNoContextTakeover { parameters.append(.init("server_no_context_takeover")) }
        if self.clientNoContextTakeover { parameters.append(.init("client_no_context_takeover")) }
        if let bits = self.serverMaxWindowBits { parameters.append(.init("server_max_window_bits", "\(bits)")) }
        if let bits = self.clientMaxWindowBits {
            parameters.append(.init("client_max_window_bits", bits.map { "\($0)" }))
        }
        return ExtensionOffer(DeflateParameters.extensionName, parameters: parameters.compactMap { $0 })
    }

    /// RFC 7692 §7.1.2: a decimal integer from 8 to 15 without leading zeros.
    private static func bits(_ value: String) -> Int? {
        DeflateParameters.windowBitsRange.first { "\($0)" == value }
    }
}
