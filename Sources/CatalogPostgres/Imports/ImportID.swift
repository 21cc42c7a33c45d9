internal import Catalog
internal import LibPQ

/// The identity of an import, under which its rows are staged.
struct ImportID: Sendable {
    let text = UniqueID.random().text

    var parameter: PostgresValue { .text(text) }

    /// Verifies that this import was not considered dead, because it lost the connection of its lock, and its rows deleted.
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
