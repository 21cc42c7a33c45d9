package import Catalog
internal import CatalogImport
internal import LibPQ

/// Exports a catalog's products as a file.
package struct CatalogExport: Sendable {
    private let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    package init(_ database: Database) { self.database = database }

    /// Writes products as a CSV file for import, from one snapshot: one line per shelf that a product is
    /// placed on, in the shelf's manual order, followed by products on no shelf.
    ///
    /// Importing the file into the same catalog changes nothing. Importing the file into an empty catalog creates the
    /// stores and shelves that have products, and the manual orders. Popularity is the imported value. Declared
    /// attributes have columns of their own, and the column `attributes` has the others. The file does not contain
    /// declarations, settings, empty shelves, or shelf titles from which the key cannot be derived.
    ///
    /// - Parameters:
    ///   - store: nil for all.
    ///   - write: receives the file in chunks of about 64 KiB.
    package func run(
        of store: CatalogKey?,
        _ write: ([UInt8]) -> Void
    ) async throws(CatalogError) {
        try await database.mappingErrors {
            let stores = if let store { [try await lookup.readStore(store)] } else { try await lookup.readStores() }
            try await database.longReads.withConnection(of: store.flatMap(database.owner)) { connection in
                // Use one snapshot for the whole export. A connection returned inside a transaction is closed.
                // Force hash joins: all rows are joined, and there are no statistics right after an import.
                try await connection.perform {
                    try $0.begin(Lane.snapshotMode)
                    try $0.set("enable_nestloop", "off")
                    // The client may read the file arbitrarily slowly.
                    try $0.set("idle_in_transaction_session_timeout", "0")
                    try $0.set("statement_timeout", "0")
                }
                let sets = try await connection.perform { connection in
                    try stores.map { try PostgresAttributeStore.effective(in: $0.id, connection) }
                }
                let names = ExportedAttributes.names(in: sets)
                write(Array(Self.header(names).utf8))
                for (store, set) in zip(stores, sets) {
                    var rows = ExportedAttributes(names, set)
                    try await connection.perform { connection in
                        try connection.beginCopyOut(
                            Self.export(store, titled: try Self.titledShelves(store, connection)).named(
                                "CatalogExport.export"
                            )
                        )
                    }
                    while let chunk = try await connection.perform({ try $0.nextCopy() }) {
                        write(names.isEmpty ? chunk : try rows.rows(chunk))
                    }
                }
                try await connection.perform { try $0.commit() }
            }
        }
    }

    private static func header(_ attributes: [String]) -> String {
        let titles = ImportColumn.exported.map(\.columnName) + attributes.map { AttributeCells.title(of: $0) }
        return titles.joined(separator: ",") + "\n"
    }

    /// Returns the shelves whose key an import can derive from the title; the others are exported by key.
    private static func titledShelves(
        _ store: ShelfRow.StoreRead,
        _ connection: isolated PostgresConnection
    ) throws -> [Int32] {
        let shelves = try connection.query(
            ImportStatements.shelfTitles,
            [.int4(store.id)]
        ) { try $0.map { (id: try $0.int4(0), key: try $0.text(1), title: try $0.text(2)) } }
        let count = Dictionary(grouping: shelves, by: \.title).mapValues(\.count)
        return shelves.filter { count[$0.title] == 1 && ShelfKeyGenerator.derives($0.key, from: $0.title) }.map(\.id)
    }

    /// COPY takes no parameters, so ids and the currency's exponent are part of the statement.
    private static func export(_ store: ShelfRow.StoreRead, titled: [Int32]) -> PostgresStatement {
        let titled = titled.map { "\($0)" as SQL }.joined(",")
        let exponent = store.store.currency.exponent
        return """
            COPY (
                SELECT \(ImportColumn.exported.map { value(of: $0, exponent) }.joined())
                FROM product r JOIN store s ON s.store_id = r.store_id
                LEFT JOIN (
                    SELECT o.sku, u.position, u.key, row_number() OVER (PARTITION BY o.shelf_id ORDER BY o.key) - 1 AS place,
                        CASE WHEN u.shelf_id = ANY ('{\(titled)}') THEN u.title ELSE u.key END AS name
                    FROM placement_position o JOIN shelf u ON u.store_id = o.store_id AND u.shelf_id = o.shelf_id
                    WHERE o.store_id = \(store.id) AND NOT o.is_removed
                ) h ON h.sku = r.sku
                WHERE r.store_id = \(store.id) ORDER BY h.position, h.place, r.sku
            ) TO STDOUT WITH (FORMAT csv)
            """
    }

    /// Returns the expression of a file column, for product `r`, store `s` and shelf `h`.
    private static func value(of column: ImportColumn, _ exponent: Int) -> SQL {
        func decimal(_ column: SQL) -> SQL { "round(\(column)::numeric / (10::numeric ^ \(exponent)), \(exponent))" }
        return switch column {
        case .store: "s.key"
        case .shelf: "h.name"
        case .sku: "r.sku"
        case .price:
            decimal("CASE WHEN r.price_minor IS NOT NULL THEN coalesce(r.regular_price_minor, r.price_minor) END")
        case .promoPrice: decimal("CASE WHEN r.regular_price_minor IS NOT NULL THEN r.price_minor END")
        case .currency: "s.currency"
        case .size: "CASE WHEN r.size_approximate THEN '~' ELSE '' END || r.size_amount"
        case .unit: "r.size_unit"
        case .packCount: "r.size_packs"
        case .drained: "r.size_drained"
        case .popularity: "r.popularity_seed::text::numeric"
        // A bar after a single tag with a comma, so that imports do not take the comma for a separator.
        case .tags:
            "array_to_string(r.tags, '|') || CASE WHEN array_length(r.tags, 1) = 1 AND r.tags[1] LIKE '%,%' THEN '|' ELSE '' END"
        case .position: "h.place"
        // The others are columns of a product.
        default: "r.\(Self.productColumn(column).name)"
        }
    }

    private static func productColumn(_ column: ImportColumn) -> ProductColumn {
        guard let found = ProductColumn.allCases.first(where: { $0.imported == column }) else {
            preconditionFailure(
                "the column \(column) of import files feeds no column of product; see ProductColumn.imported"
            )
        }
        return found
    }
}
