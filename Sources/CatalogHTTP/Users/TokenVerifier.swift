package import Catalog
internal import CatalogJSON
internal import Crypto
internal import JSON
internal import Synchronization

/// Verifies bearer tokens. Source: RFC 7519 (JSON Web Token), RFC 8725 (best current practices).
///
/// Header and claims are checked strictly here; the signature is checked by swift-crypto, with the one algorithm of the
/// key.
package final class TokenVerifier: Sendable {
    package struct Rules: Sendable {
        /// The required `iss`; nil for any.
        package var issuer: String?
        /// The values of which `aud` must equal or contain one; empty for any.
        package var audiences: [String]
        /// The allowed clock skew between two servers, in seconds.
        package var leeway = 30

        package init(issuer: String? = nil, audiences: [String] = []) {
            self.issuer = issuer
            self.audiences = audiences
        }
    }

    /// The maximum length of a token, in bytes.
    package static let limit = 8 << 10
    /// The maximum lifetime of a token in days; a longer one is a mistake or forged.
    package static let maximumLifetimeDays = 366

    /// The size of all cached verified tokens, in bytes.
    private static let verifiedLimit = 8 << 20

    private let keys: TokenKeys
    private let rules: Rules
    private let clock: @Sendable () -> Timestamp
    private let verified = Mutex(RecentDictionary<SHA256.Digest, VerifiedToken>(limit: verifiedLimit) { $1.size })

    private struct VerifiedToken {
        let caller: Caller
        let notBefore: Int64
        let generation: Int
        /// The approximate size in bytes: the claims are as long as the token at most, but lists take more.
        let size: Int
    }

    package init(keys: TokenKeys, rules: Rules = Rules(), clock: @escaping @Sendable () -> Timestamp = Timestamp.now) {
        self.keys = keys
        self.rules = rules
        self.clock = clock
    }

    /// - Throws: `TokenError`, never with a part of the token.
    /// - Complexity: one hash for a token that was verified before.
    package func verify(_ token: String) async throws(TokenError) -> Caller {
        guard token.utf8.count <= Self.limit else { throw .invalid("the token exceeds \(Self.limit) bytes") }
        let digest = SHA256.hash(data: Array(token.utf8))
        let generation = keys.generation.load(ordering: .acquiring)
        if let cached = verified.withLock({ $0[digest] }), cached.generation == generation {
            keys.refreshIfDue()
            try checkLifetime(cached.caller.expiresAt.microseconds, cached.notBefore)
            return cached.caller
        }
        let words = token.split(separator: ".", omittingEmptySubsequences: false)
        let parts = words.map { Base64URL.decode(String($0)) }
        guard parts.count == 3, let header = parts[0].flatMap(Self.object), let claims = parts[1].flatMap(Self.object),
            let signature = parts[2]
        else { throw .invalid("the token is not a JSON Web Token") }
        let signed = Array("\(words[0]).\(words[1])".utf8)
        guard try await keys(for: header).contains(where: { $0.accepts(signature, of: signed) }) else {
            throw .invalid("the token is not signed by a known key")
        }
        var (caller, notBefore) = try read(claims)
        caller.token = Self.name(claims, digest)
        let size = 512 + 4 * token.utf8.count
        let verifiedToken = VerifiedToken(caller: caller, notBefore: notBefore, generation: generation, size: size)
        verified.withLock { $0[digest] = verifiedToken }
        return caller
    }

    private static func object(_ bytes: [UInt8]) -> JSONValue? {
        guard let value = try? JSONReader.parse(bytes), case .object = value else { return nil }
        return value
    }

    private func keys(for header: JSONValue) async throws(TokenError) -> [TokenKey] {
        guard header["crit"] == nil, header["b64"] == nil else {
            throw .invalid("the token's header has unsupported extensions")
        }
        guard case .string(let name)? = header["alg"], let algorithm = TokenAlgorithm(rawValue: name) else {
            let accepted = TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid("the token's algorithm must be one of \(accepted)")
        }
        switch header["kid"] {
        case nil: return try await keys.keys(algorithm, nil)
        case .string(let kid): return try await keys.keys(algorithm, kid)
        default: throw .invalid("the token's kid is not a string")
        }
    }

    /// Validates the claims. Source: RFC 7519, section 4.1; scopes as in RFC 8693, section 4.2.
    private func read(_ claims: JSONValue) throws(TokenError) -> (Caller, notBefore: Int64) {
        guard case .string(let subject)? = claims["sub"], let user = UserID(subject) else {
            throw .invalid("the token's sub is missing, or is not \(UserID.rule)")
        }
        if let issuer = rules.issuer, claims["iss"] != .string(issuer) {
            throw .invalid("this server does not accept the token's issuer (iss)")
        }
        if !rules.audiences.isEmpty {
            let matchesAudience =
                switch claims["aud"] {
                case .string(let one): rules.audiences.contains(one)
                case .array(let several): rules.audiences.contains { several.contains(.string($0)) }
                default: false
                }
            guard matchesAudience else { throw .invalid("the token's audience (aud) does not include this service") }
        }
        guard let expiry = try Self.moment("exp", claims) else { throw .invalid("the token has no exp") }
        let notBefore = try Self.moment("nbf", claims) ?? 0
        guard expiry <= clock().adding(days: Self.maximumLifetimeDays).microseconds else {
            throw .invalid("the token expires more than \(Self.maximumLifetimeDays) days from now")
        }
        try checkLifetime(expiry, notBefore)
        var names: [Substring] = []
        if case .string(let scope)? = claims["scope"] { names = scope.split(separator: " ") }
        let scopes = Set(names.compactMap { Scope(rawValue: String($0)) })
        let caller = Caller(
            user: user,
            scopes: scopes,
            stores: try Self.stores(claims),
            customer: try Self.customer(claims),
            expiresAt: Timestamp(microseconds: expiry)
        )
        return (caller, notBefore)
    }

    /// Returns the stores to which a token is limited; nil for all stores.
    private static func stores(_ claims: JSONValue) throws(TokenError) -> Set<CatalogKey>? {
        guard let claim = claims["stores"] else { return nil }
        // A malformed claim must not lift the limit.
        guard case .array(let values) = claim else {
            throw .invalid("the token's stores is not an array of store keys")
        }
        var stores: Set<CatalogKey> = []
        for value in values {
            guard case .string(let text) = value, let store = CatalogKey(text) else {
                throw .invalid("the token's stores is not an array of store keys")
            }
            stores.insert(store)
        }
        return stores
    }

    /// The maximum length of a token's id that the audit log keeps, in bytes.
    private static let idLimit = 128
    /// The length of the hash that identifies a token without an id, in bytes.
    private static let hashLength = 8

    /// Returns the name of a token in the audit log: its id, or a hash from which the token cannot be restored.
    private static func name(_ claims: JSONValue, _ digest: SHA256.Digest) -> String {
        if case .string(let id)? = claims["jti"], (1...idLimit).contains(id.utf8.count), id.isPrintable { return id }
        return "sha256:\(Array(digest.prefix(hashLength)).hexadecimal)"
    }

    /// Returns the name under which tills report the user's purchases; nil if it is the subject.
    private static func customer(_ claims: JSONValue) throws(TokenError) -> String? {
        guard let claim = claims["customer"] else { return nil }
        // Do not fall back to the subject: it may be another customer's name.
        guard case .string(let name) = claim, !name.isEmpty, name.utf8.count <= Purchase.customerLimit, name.isPrintable
        else {
            throw .invalid("the token's customer is not 1 to \(Purchase.customerLimit) bytes of printable text")
        }
        return name
    }

    private func checkLifetime(_ expiry: Int64, _ notBefore: Int64) throws(TokenError) {
        let (now, leeway) = (clock().microseconds, Int64(rules.leeway) * 1_000_000)
        guard now < expiry + leeway else { throw .invalid("the token has expired") }
        guard notBefore <= now + leeway else { throw .invalid("the token is not valid yet") }
    }

    /// Returns a time claim, seconds since 1970, as microseconds; fractions are truncated.
    private static func moment(_ name: String, _ claims: JSONValue) throws(TokenError) -> Int64? {
        guard let value = claims[name] else { return nil }
        guard case .number(let digits) = value, let seconds = Double(digits), seconds >= 0, seconds < 1e11 else {
            throw .invalid("the token's \(name) is not a time in seconds")
        }
        return Int64(seconds) * 1_000_000
    }
}

/// The reason for rejecting a token.
package enum TokenError: Error, Sendable, Equatable {
    /// The token is malformed or not accepted, with the reason.
    case invalid(String)
    /// The verification keys are not available at the moment.
    case keysUnavailable
}
