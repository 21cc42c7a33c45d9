internal import Catalog
internal import LibPQ

/// The product columns that an import writes: those in its file. Other columns are not changed.
struct WrittenColumns: Sendable {
    /// The columns that are compared to detect changes.
    let compared: [SQL]
    /// The written columns of products: the compared ones and columns derived from them.
    let written: [SQL]
    let hasPopularity: Bool
    let hasAttributes: Bool

    init(_ columns: Set<ImportColumn>, readsSizeFromName: Bool) {
        var fileColumns = columns.union([.name])
        if columns.contains(.promoPrice) { fileColumns.insert(.price) }
        if readsSizeFromName { fileColumns.insert(.size) }
        let own = ProductColumn.staged.filter { $0.imported.map(fileColumns.contains) ?? false }
        hasAttributes = columns.contains(.attributes)
        hasPopularity = columns.contains(.popularity)
        written = own.map(\.name) + ["name_key"] + (columns.contains(.brand) ? ["brand_key"] : [])
        compared = own.filter { !$0.isDerived }.map(\.name) + (hasPopularity ? ["popularity_seed"] : [])
    }

    /// Returns a row expression of a table's compared columns.
    func row(_ table: SQL) -> SQL { "(\(compared.map { "\(table).\($0)" as SQL }.joined()))" }

    /// The columns of `import_row` that COPY fills, in order. `line` is the line of the file, but in XML the number of the record, because
    /// one line may have many records: `ImportSession.line(of:)` returns the line.
    static let copyColumns: SQL = "store_id, \(copied)"

    /// The same without the store's id.
    static let copied: SQL = """
        import_id, line, part, shelf_key, sku, \(ProductColumn.staged.names), \(SortKeys.columns), popularity_seed, \
        position_numerator, position_denominator, keeps_attributes
        """
}

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

extension ImportSummary {
    mutating func clearChanges() {
        (inserted, updated, removedPlacements, removedProducts, storesCreated, shelvesCreated) = (0, 0, 0, 0, 0, 0)
    }

    mutating func add(_ outcome: ImportApplication.Outcome) {
        unchanged += outcome.unchanged
        updated += outcome.updated
        inserted += outcome.inserted
        removedPlacements += outcome.removedPlacements
        removedProducts += outcome.removedProducts
        storesCreated += outcome.storesCreated
        shelvesCreated += outcome.shelvesCreated
    }
}
