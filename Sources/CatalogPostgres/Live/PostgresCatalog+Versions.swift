package import Catalog
internal import LibPQ

extension PostgresCatalog {
    package func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion] {
        try await mappingErrors {
            let query = PostgresQuery(
                Self.shelfVersions,
                [.textArray(shelves.map(\.store.text)), .textArray(shelves.map(\.shelf.text))]
            )
            return try await pipeline.read([query], into: [:]) { versions, _, rows in
                try rows.forEach { row in
                    let index = try row.int(0) - 1
                    guard shelves.indices.contains(index) else { return }
                    versions[shelves[index]] = ShelfVersion(
                        store: try row.int8(1),
                        shelf: try row.int8(2),
                        inheritedSort: try row.textOrNil(3).flatMap { try? Sort.parse($0) }
                    )
                }
            }
        }
    }

    private static let shelfVersions = PostgresStatement(
        assembled: """
            SELECT w.number, s.version, h.version, \(ShelfRow.inheritedSort)
            FROM unnest($1, $2) WITH ORDINALITY AS w (store, shelf, number) JOIN store s ON s.key = w.store
            JOIN shelf h ON h.store_id = s.store_id AND h.key = w.shelf AND h.deleted_at IS NULL
            """
    )
}
