import ArgumentParser
import FoundationEssentials
import IdentityTokens

/// The keys of other identity providers whose JSON Web Tokens are accepted.
struct IdentitySettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File with a secret of at least 32 bytes, for HS256. A line break at its end does not count. [BACKLINE_JWT_SECRET_FILE; default: none]",
            valueName: "file"))
    var jwtSecretFile: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with a P-256 public key, for ES256. [BACKLINE_JWT_KEY_FILE; default: none]", valueName: "file"))
    var jwtKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "File with a JSON Web Key Set. Its keys for ES256, RS256 and HS256 are used. [BACKLINE_JWT_JWKS_FILE; default: none]",
            valueName: "file"))
    var jwtJwksFile: String?

    @Option(
        help: ArgumentHelp(
            "The iss that a token must have. [BACKLINE_JWT_ISSUER; default: anything]", valueName: "text"))
    var jwtIssuer: String?

    @Option(
        help: ArgumentHelp(
            "The audience that a token's aud must contain. [BACKLINE_JWT_AUDIENCE; default: anything]",
            valueName: "text"))
    var jwtAudience: String?

    /// The longest file that is accepted, in bytes.
    private static let maximumFileLength = 1 << 20

    /// Returns the verifier of tokens; nil if no key is given.
    func verifier() throws -> TokenVerifier? {
        var keys: [TokenKey] = []
        try read(jwtSecretFile, "jwt-secret-file") { bytes throws(TokenKey.Fault) in
            keys.append(try .secret(Self.withoutLineBreak(bytes)))
        }
        try read(jwtKeyFile, "jwt-key-file") { bytes throws(TokenKey.Fault) in
            keys.append(try .publicKey(pem: bytes))
        }
        try read(jwtJwksFile, "jwt-jwks-file") { bytes throws(TokenKey.Fault) in
            keys += try TokenKey.keySet(json: bytes)
        }
        let issuer = jwtIssuer ?? Environment["BACKLINE_JWT_ISSUER"]
        let audience = jwtAudience ?? Environment["BACKLINE_JWT_AUDIENCE"]
        guard !keys.isEmpty else {
            guard issuer == nil, audience == nil else {
                throw Failure.usage(
                    "--jwt-issuer and --jwt-audience: they have no effect without --jwt-secret-file, --jwt-key-file or --jwt-jwks-file"
                )
            }
            return nil
        }
        return TokenVerifier(keys: keys, issuer: issuer, audience: audience)
    }

    private func read(
        _ flag: String?, _ name: String, _ use: ([UInt8]) throws(TokenKey.Fault) -> Void
    ) throws {
        guard let path = flag ?? Environment[Environment.variable(name)] else { return }
        guard let bytes = FileManager.default.contents(atPath: path).map({ [UInt8]($0) }),
            bytes.count <= Self.maximumFileLength
        else { throw Failure.usage("--\(name): \(path) cannot be read, or is longer than 1 MiB") }
        do throws(TokenKey.Fault) {
            try use(bytes)
        } catch {
            throw Failure.usage("--\(name): \(path): \(error.description)")
        }
    }

    private static func withoutLineBreak(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
