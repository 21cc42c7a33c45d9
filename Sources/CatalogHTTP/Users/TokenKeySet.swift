internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Crypto
internal import CryptoExtras

/// The public keys of a JSON Web Key Set, by `kid`. Source: RFC 7517.
struct TokenKeySet: Sendable {
    private var keys: [String: TokenKey] = [:]
    /// The key for tokens without a `kid`, if the set has exactly one key.
    private var onlyKey: TokenKey?

    /// The minimum size of an RSA key, in bits. Source: RFC 7518, section 3.3.
    private static let minimumModulusBits = 2048

    /// Parses a key set. Keys for other uses or of unsupported types are ignored.
    ///
    /// - Throws: `TokenError` for an invalid key set, or one without a usable key.
    init(_ document: [UInt8]) throws(TokenError) {
        guard let set = try? JSONReader.parse(document), case .array(let members)? = set["keys"] else {
            throw .invalid("the key set is not a JSON object with “keys”")
        }
        var found: [TokenKey] = []
        for member in members {
            guard let (kid, key) = Self.key(member) else { continue }
            if let kid { keys[kid] = key }
            found.append(key)
        }
        guard !found.isEmpty else { throw .invalid("the key set has no key for ES256 or RS256 signatures") }
        onlyKey = found.count == 1 ? found[0] : nil
    }

    func key(_ kid: String?) -> TokenKey? { kid.map { keys[$0] } ?? onlyKey }

    private static func key(_ value: JSONValue) -> (kid: String?, key: TokenKey)? {
        func text(_ name: String) -> String? { if case .string(let text)? = value[name] { text } else { nil } }
        func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0) } }
        guard (text("use") ?? "sig") == "sig", value["d"] == nil else { return nil }
        let found: TokenKey
        switch text("kty") {
        case "EC" where text("crv") == "P-256":
            // Both coordinates must have their full length. Source: RFC 7518, section 6.2.1.2.
            guard let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32,
                let key = try? P256.Signing.PublicKey(x963Representation: [0x04] + x + y)
            else { return nil }
            found = .elliptic(key)
        case "RSA":
            guard let modulus = bytes("n"), let exponent = bytes("e") else { return nil }
            let significant = modulus.drop { $0 == 0 }
            guard significant.count * 8 >= minimumModulusBits,
                let key = try? _RSA.Signing.PublicKey(n: Array(significant), e: exponent)
            else { return nil }
            found = .rsa(key)
        default: return nil
        }
        guard (text("alg") ?? found.algorithm.rawValue) == found.algorithm.rawValue else { return nil }
        return (text("kid"), found)
    }
}
