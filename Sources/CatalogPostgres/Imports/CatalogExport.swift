internal import CatalogJSON
package import Catalog
internal import LibPQ

/// Exports a catalog's products as a file.
package struct CatalogExport: Sendable {
    private let database: Database
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    package init(_ database: Database) { self.database = database }

    /// Writes products as a CSV file that an import takes, as they are at one moment: a line for each shelf that a product
    /// stands on, in the shelf's manual order, then those that stand nowhere.
    ///
    /// Imported into the catalog that it came from it changes nothing; into an empty one it makes the stores and shelves that
    /// have products, with these and their manual orders. Popularity is what imports stated. Attributes, settings, empty
    /// shelves, and the titles of shelves whose key does not come from it, have no place in such a file.
    ///
    /// - Parameters:
    ///   - store: nil for all.
    ///   - write: takes the file in pieces of about 64 KiB.
    package func run(
        of store: CatalogKey?,
        _ write: ([UInt8]) -> Void
    ) async throws(CatalogError) {
        try await database.mappingErrors {
            let stores = if let store { [try await lookup.readStore(store)] } else { try await lookup.readStores() }
            write(Array((ImportColumn.allCases.map(\.rawValue).joined(separator: ",") + "\n").utf8))
            try await database.writes.withConnection { connection in
                // One snapshot for all of it; a connection that is given back in a transaction is closed.
                // All is joined with all: by hashing, which needs no statistics, and right after an import there are none.
                try await connection.perform {
                    try $0.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    try $0.set("enable_nestloop", "off")
                    // The file may be read as slowly as its reader likes.
                    try $0.set("idle_in_transaction_session_timeout", "0")
                    try $0.set("statement_timeout", "0")
                }
                for store in stores {
                    try await connection.perform { connection in
                        try connection.beginCopyOut(
                            Self.export(store, titled: try Self.titledShelves(store, connection))
                        )
                    }
                    while let piece = try await connection.perform({ try $0.nextCopy() }) {
                        write(piece)
                    }
                }
                try await connection.perform { try $0.commit() }
            }
        }
    }

    /// The shelves whose title alone tells their key to an import; the others are named by their key.
    private static func titledShelves(
        _ store: ShelfRow.StoreRead,
        _ connection: isolated PostgresConnection
    ) throws -> [Int32] {
        let shelves = try connection.query(
            ImportStatements.shelfTitles,
            [.int4(store.id)]
        ) { try $0.map { (id: try $0.int4(0), key: try $0.text(1), title: try $0.text(2)) } }
        let count = Dictionary(grouping: shelves, by: \.title).mapValues(\.count)
        return shelves.filter { count[$0.title] == 1 && ShelfKeyMaker.makes($0.key, from: $0.title) }.map(\.id)
    }

    /// COPY takes no parameters: numbers of stores and shelves and the currency's exponent are part of the text.
    private static func export(_ store: ShelfRow.StoreRead, titled: [Int32]) -> PostgresStatement {
        let titled = titled.map { "\($0)" as SQL }.joined(",")
        let exponent = store.store.currency.exponent
        return """
            COPY (
                SELECT \(ImportColumn.allCases.map { value(of: $0, exponent) }.joined())
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

    /// What a file has in a column, of product `r`, store `s` and shelf `h`.
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
        case .tags: "array_to_string(r.tags, '|')"
        case .position: "h.place"
        // The others are columns of a product.
        default: "r.\(ProductColumn.allCases.first { $0.imported == column }!.name)"
        }
    }
}
