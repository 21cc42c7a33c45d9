internal import Catalog
internal import LibPQ

// Identifiers from database rows. The schema's checks guarantee their form; a database changed manually or by a newer
// version causes an error, not a crash.

extension CatalogKey {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let key = CatalogKey(text) else { throw PostgresError(.decoding, "invalid stored key “\(text)”") }
        self = key
    }
}

extension UserID {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let user = UserID(text) else { throw PostgresError(.decoding, "invalid stored user id") }
        self = user
    }
}
