internal import Catalog
internal import Crypto
internal import CryptoExtras

/// The signature algorithms that are accepted. Source: RFC 7518, section 3.1.
enum TokenAlgorithm: String, CaseIterable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
}

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

/// The public keys of a JSON Web Key Set, by `kid`. Source: RFC 7517.
struct TokenKeySet: Sendable {
    private var keys: [String: TokenKey] = [:]
    /// The key of a token that names none: the only one of a set.
    private var only: TokenKey?

    /// The fewest bits of an RSA key. Source: RFC 7518, section 3.3.
    private static let leastModulus = 2048

    /// Keys that are not for signatures, or of kinds that are not accepted, are left out.
    ///
    /// - Throws: `TokenError` for what is no key set, or one of which no key can be used.
    init(_ document: [UInt8]) throws(TokenError) {
        guard let set = try? JSONReader.parse(document), case .array(let members)? = set["keys"] else {
            throw .invalid("the key set is no JSON object with “keys”")
        }
        var found: [TokenKey] = []
        for member in members {
            guard let (kid, key) = Self.key(member) else { continue }
            if let kid { keys[kid] = key }
            found.append(key)
        }
        guard !found.isEmpty else { throw .invalid("the key set has no key for ES256 or RS256 signatures") }
        only = found.count == 1 ? found[0] : nil
    }

    func key(_ kid: String?) -> TokenKey? { kid.map { keys[$0] } ?? only }

    private static func key(_ value: JSONValue) -> (kid: String?, key: TokenKey)? {
        func text(_ name: String) -> String? { if case .string(let text)? = value[name] { text } else { nil } }
        func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0) } }
        guard (text("use") ?? "sig") == "sig", value["d"] == nil else { return nil }
        let found: TokenKey
        switch text("kty") {
        case "EC" where text("crv") == "P-256":
            // Both coordinates have all their bytes. Source: RFC 7518, section 6.2.1.2.
            guard let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [0x04] + x + y)
            else { return nil }
            found = .elliptic(key)
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            let significant = modulus.drop { $0 == 0 }
            guard significant.count * 8 >= leastModulus,
                let key = try? _RSA.Signing.PublicKey(n: Array(significant), e: exponent)
            else { return nil }
            found = .rsa(key)
        default: return nil
        }
        guard (text("alg") ?? found.algorithm.rawValue) == found.algorithm.rawValue else { return nil }
        return (text("kid"), found)
    }
}
