internal import Catalog
internal import LibPQ

/// The identity of an import, under which its rows are staged.
struct ImportID: Sendable {
    let text = UniqueID.random().text

    var parameter: PostgresValue { .text(text) }

    /// Verifies that this import was not considered dead, because it lost the connection of its lock, and its rows deleted; and
    /// that none of its stores was deleted.
    ///
    /// - Throws: `unavailable` or `conflict`: a repetition starts from nothing.
    func check(_ connection: isolated PostgresConnection) throws {
        let isEnded = try connection.query(ImportStatements.lockRun, [parameter]) {
            try $0.first { try $0.bool(0) }
        }
        guard let isEnded else { throw CatalogError.unavailable }
        guard !isEnded else {
            throw CatalogError.conflict("a store of the file was deleted during the import; import the file again")
        }
    }
}
