internal import Catalog
internal import Crypto
internal import CryptoExtras

/// A key and the one algorithm that it is for: what a token's header says cannot choose another.
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

    /// Whether a signature is this key's, in constant time where the key is secret.
    ///
    /// - Parameters:
    ///   - signature: as RFC 7518 encodes it: for ES256 the 32 bytes of R and the 32 of S.
    ///   - signed: the ASCII of header and claims with the point between them.
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
