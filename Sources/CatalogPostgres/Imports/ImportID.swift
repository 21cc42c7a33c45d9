internal import Catalog
internal import LibPQ

/// The identity of an import, under which its rows are staged.
struct ImportID: Sendable {
    let text = UniqueID.random().text

    var parameter: PostgresValue { .text(text) }

    /// Verifies that the staged rows still exist. If the connection of the lock is lost, the import counts as dead, and
    /// another run deletes its rows.
    ///
    /// - Throws: `unavailable`: a repetition starts from nothing.
    func check(_ connection: isolated PostgresConnection) throws {
        let exists = try connection.query(
            ImportStatements.lockRun,
            [parameter]
        ) { $0.count > 0 }
        guard exists else { throw CatalogError.unavailable }
    }
}
