internal import Catalog
internal import LibPQ

// Identifiers as rows have them. The schema's checks keep others out; a database that was changed by hand, or by a newer
// version, is an error and not a crash.

extension CatalogKey {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let key = CatalogKey(text) else { throw PostgresError(.decoding, "“\(text)” is not a key") }
        self = key
    }
}

extension UserID {
    /// - Throws: kind `decoding`.
    init(stored text: String) throws(PostgresError) {
        guard let user = UserID(text) else { throw PostgresError(.decoding, "a stored user ID cannot be read") }
        self = user
    }
}
