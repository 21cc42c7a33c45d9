internal import Catalog
package import CatalogJSON
internal import Crypto

/// The key shared by all servers of a deployment. It signs cursors and derives secrets, which are therefore not stored.
package struct DeploymentKey: Sendable {
    private let key: SymmetricKey

    package init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

    /// The codec of cursors signed with HMAC-SHA-256.
    package var cursors: CursorCodec {
        // Copies of a code that has begun do not read the key again.
        let begun = HMAC<SHA256>(key: key)
        return CursorCodec { bytes in
            var code = begun
            code.update(data: bytes)
            return Array(code.finalize())
        }
    }

    /// The purpose of a derived secret; it separates key domains.
    enum Purpose: String, Sendable {
        case share, ticket
    }

    /// Returns the 32-byte secret of a record.
    ///
    /// With an idempotency key, every server derives the same secret, so that a repeated request returns it. The derivation
    /// uses the client's key, of which only a hash is stored, so the secret cannot be derived from the database.
    ///
    /// - Parameter idempotencyKey: nil for a request without a key; the secret is then random.
    func secret(_ purpose: Purpose, _ id: UniqueID, idempotencyKey: String?) -> [UInt8] {
        guard let idempotencyKey else { return .random(32) }
        let text = "aisle \(purpose.rawValue) \(id.text) \(idempotencyKey)"
        return Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    /// Returns the hash of a secret, used for lookup.
    static func digest(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }
}
