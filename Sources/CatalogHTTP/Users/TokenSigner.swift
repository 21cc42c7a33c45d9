internal import JSON
package import Catalog
internal import CatalogJSON
internal import Crypto

/// Signs tokens with the secret.
package struct TokenSigner: Sendable {
    private let secret: [UInt8]
    private let rules: TokenVerifier.Rules

    /// - Parameter secret: at least 32 bytes.
    package init(secret: [UInt8], rules: TokenVerifier.Rules = .init()) {
        self.secret = secret
        self.rules = rules
    }

    /// Returns a token signed with HS256.
    package func token(for caller: Caller, issuedAt: Timestamp = .now()) -> String {
        var header = JSONWriter(reserving: 32)
        header.object { json in
            json.field("alg", TokenAlgorithm.hs256.rawValue)
            json.field("typ", "JWT")
        }
        var claims = JSONWriter(reserving: 256)
        claims.object { json in
            json.field("sub", caller.user.text)
            json.field("iat", issuedAt.microseconds / 1_000_000)
            json.field("exp", caller.expiresAt.microseconds / 1_000_000)
            if let id = caller.token { json.field("jti", id) }
            if let issuer = rules.issuer { json.field("iss", issuer) }
            if let audience = rules.audiences.first { json.field("aud", audience) }
            let scopes = caller.scopes.map(\.rawValue).sorted().joined(separator: " ")
            if !scopes.isEmpty { json.field("scope", scopes) }
            if caller.customer != caller.user.text { json.field("customer", caller.customer) }
            if let stores = caller.stores { json.array("stores", stores.sorted()) { $0.string($1.text) } }
        }
        let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(claims.bytes)
        let code = HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: SymmetricKey(data: secret))
        return signed + "." + Base64URL.encode(Array(code))
    }
}
