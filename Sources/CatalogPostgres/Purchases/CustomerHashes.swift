internal import Catalog
internal import Crypto
internal import FoundationEssentials
internal import LibPQ
internal import Synchronization

/// The keyed hashes that replace the identifiers of customers and of erased users.
final class CustomerHashes: Sendable {
    private let database: Database
    /// The cached key; nil until it is read.
    private let cachedKey = Mutex<SymmetricKey?>(nil)

    init(_ database: Database) { self.database = database }

    /// Returns the keyed hash of a customer, which reveals nothing without the deployment's key.
    static func hash(_ customer: String, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(customer.trimmed.utf8), using: key).prefix(16))
    }

    /// Returns the keyed hash of a user. A customer's name has no NUL, so no customer has the same hash.
    static func hash(of user: UserID, _ key: SymmetricKey) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data("user\u{0}\(user)".utf8), using: key).prefix(16))
    }

    /// Returns the name under which the audit log keeps entries about someone who was erased.
    static func erasedName(_ hash: [UInt8]) -> String { "erased:\(hash.hexadecimal)" }

    func key() async throws -> SymmetricKey {
        if let key = cachedKey.withLock({ $0 }) { return key }
        let bytes = try await database.writes.perform(within: .lookup) {
            try $0.query(DatabaseStatements.customerKey) {
                try $0.first { try $0.bytea(0) }
            }
        }
        guard let bytes else { throw CatalogError.fault("the deployment has no customer key") }
        let key = SymmetricKey(data: bytes)
        cachedKey.withLock { $0 = key }
        return key
    }
}
