internal import CatalogJSON
internal import Catalog
internal import LibPQ

/// Which columns of a product an import writes: those that its file has. The others stay as they are.
struct ImportColumns: Sendable {
    /// What is compared: the columns that differ when something changed.
    let compared: [SQL]
    /// What is written: these, and those that follow from them.
    let written: [SQL]
    let hasPopularity: Bool

    init(_ columns: Set<ImportColumn>, readsSizeFromName: Bool) {
        var stated = columns.union([.name])
        if columns.contains(.promoPrice) { stated.insert(.price) }
        if readsSizeFromName { stated.insert(.size) }
        let own = ProductColumn.staged.filter { $0.imported.map(stated.contains) ?? false }
        hasPopularity = columns.contains(.popularity)
        written = own.map(\.name)
        compared = own.filter { !$0.isDerived }.map(\.name) + (hasPopularity ? ["popularity_seed"] : [])
    }

    /// A row of the compared columns of a table.
    func row(_ table: SQL) -> SQL { "(\(compared.map { "\(table).\($0)" as SQL }.joined()))" }

    /// The columns of `import_row` that COPY fills, in order.
    static let staged: SQL = """
        import_id, line, store_key, shelf_key, sku, \(ProductColumn.staged.names), popularity_seed, position_numerator, \
        position_denominator
        """
}
