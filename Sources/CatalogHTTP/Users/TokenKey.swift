internal import Catalog
internal import Crypto
internal import CryptoExtras

/// A key bound to a single algorithm, which a token's header cannot override.
enum TokenKey: Sendable {
    case secret(SymmetricKey)
    case elliptic(P256.Signing.PublicKey)
    case rsa(_RSA.Signing.PublicKey)

    init(secret: [UInt8]) { self = .secret(SymmetricKey(data: secret)) }

    var algorithm: TokenAlgorithm {
        switch self {
        case .secret: .hs256
        case .elliptic: .es256
        case .rsa: .rs256
        }
    }

    /// Returns whether a signature is valid for this key; in constant time for a secret key.
    ///
    /// - Parameters:
    ///   - signature: encoded as in RFC 7518; for ES256, 32 bytes of R and 32 bytes of S.
    ///   - signed: the encoded header and claims, joined by a point, in ASCII.
    func accepts(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        switch self {
        case .secret(let key): HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: signed, using: key)
        case .elliptic(let key):
            (try? P256.Signing.ECDSASignature(rawRepresentation: signature))
                .map { key.isValidSignature($0, for: signed) } ?? false
        case .rsa(let key):
            key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: SHA256.hash(data: signed),
                padding: .insecurePKCS1v1_5
            )
        }
    }
}

/// The accepted signature algorithms. Source: RFC 7518, section 3.1.
enum TokenAlgorithm: String, CaseIterable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
}
