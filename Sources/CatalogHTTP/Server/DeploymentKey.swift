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

    /// The secret of a record: 32 bytes, the same each time and on every server.
    func secret(_ purpose: Purpose, _ id: UniqueID) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array("aisle \(purpose.rawValue) \(id.text)".utf8), using: key))
    }

    /// The hash of a secret, by which it is found.
    static func digest(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }
}
