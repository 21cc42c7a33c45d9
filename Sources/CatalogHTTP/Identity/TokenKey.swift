internal import Catalog
internal import FoundationEssentials
internal import JWTKit

/// The signature algorithms that are accepted.
enum TokenAlgorithm: String, CaseIterable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
}

/// A key and the one algorithm that it is for: what a token's header says cannot choose another.
struct TokenKey: Sendable {
    let algorithm: TokenAlgorithm
    /// Has this one key.
    private let collection: JWTKeyCollection

    /// Claims are read by our own reader, strictly.
    private struct Unread: JWTPayload {
        func verify(using _: some JWTAlgorithm) async throws {}
    }

    init(algorithm: TokenAlgorithm, _ collection: JWTKeyCollection) {
        self.algorithm = algorithm
        self.collection = collection
    }

    init(secret: [UInt8]) async {
        self.init(
            algorithm: .hs256,
            await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        )
    }

    func signs(_ token: String) async -> Bool {
        (try? await collection.verify(token, as: Unread.self)) != nil
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
    init(_ document: [UInt8]) async throws(TokenError) {
        guard let set = try? JSONReader.parse(document), case .array(let members)? = set["keys"] else {
            throw .invalid("the key set is no JSON object with “keys”")
        }
        var found: [TokenKey] = []
        for member in members {
            guard let (kid, key) = await Self.key(member) else { continue }
            if let kid { keys[kid] = key }
            found.append(key)
        }
        guard !found.isEmpty else { throw .invalid("the key set has no key for ES256 or RS256 signatures") }
        only = found.count == 1 ? found[0] : nil
    }

    func key(_ kid: String?) -> TokenKey? { kid.map { keys[$0] } ?? only }

    private static func key(_ value: JSONValue) async -> (kid: String?, key: TokenKey)? {
        func text(_ name: String) -> String? { if case .string(let text)? = value[name] { text } else { nil } }
        guard (text("use") ?? "sig") == "sig", value["d"] == nil else { return nil }
        let algorithm: TokenAlgorithm
        switch text("kty") {
        case "EC" where text("crv") == "P-256": algorithm = .es256
        case "RSA":
            guard let modulus = text("n").flatMap({ Base64URL.decode($0) }) else { return nil }
            let significant = modulus.drop { $0 == 0 }
            guard significant.count * 8 >= leastModulus else { return nil }
            algorithm = .rs256
        default: return nil
        }
        guard (text("alg") ?? algorithm.rawValue) == algorithm.rawValue,
            var jwk = try? JSONDecoder().decode(JWK.self, from: Data(value.text.utf8))
        else { return nil }
        jwk.algorithm = .init(rawValue: algorithm.rawValue)
        jwk.keyIdentifier = JWKIdentifier(string: "only")
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: jwk, isDefault: true)) != nil else { return nil }
        return (text("kid"), TokenKey(algorithm: algorithm, collection))
    }
}
