internal import Catalog
package import CatalogJSON
internal import Crypto

/// The key that all servers of a deployment share: it seals cursors, and derives secrets that are therefore not stored.
package struct DeploymentKey: Sendable {
    private let key: SymmetricKey

    package init(_ bytes: [UInt8]) { key = SymmetricKey(data: bytes) }

    /// Cursors with an HMAC-SHA-256.
    package var cursors: CursorCodec {
        let key = key
        return CursorCodec { bytes in Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key)) }
    }

    /// What a secret is for: no two kinds share one.
    enum Purpose: String, Sendable {
        case share, ticket
    }

    /// The secret of a record: 32 bytes.
    ///
    /// With an idempotency key it is the same each time and on every server, so that a repeat of the request can return it. It
    /// depends on the key as the client sent it, of which only a hash is stored: the database alone does not tell the secret.
    ///
    /// - Parameter idempotencyKey: nil for a request that cannot be repeated; the secret is then random.
    func secret(_ purpose: Purpose, _ id: UniqueID, idempotencyKey: String?) -> [UInt8] {
        guard let idempotencyKey else { return .random(32) }
        let text = "aisle \(purpose.rawValue) \(id.text) \(idempotencyKey)"
        return Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }

    /// The hash of a secret, by which it is found.
    static func digest(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }
}
