internal import Catalog
internal import LibPQ

/// The identity of an import, under which its rows are staged.
struct ImportID: Sendable {
    let text = UniqueID.random().text

    var parameter: PostgresValue { .text(text) }

    /// Verifies that this import was not considered dead and its rows deleted.
    ///
    /// - Throws: `conflict`.
    func check(_ connection: isolated PostgresConnection) throws {
        let exists = try connection.query(
            ImportStatements.lockRun,
            [parameter]
        ) { $0.count > 0 }
        guard exists else { throw CatalogError.conflict("the import lost its connection; run it again") }
    }
}
