import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The rows that statements of stores, shelves, lists and users lock, and how strongly.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the statements lock the rows of one server"),
    .timeLimit(.minutes(15))
) struct RowLockTests {
    private static let rows = """
        INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
            popularity_half_life_days, newcomer_boost)
        OVERRIDING SYSTEM VALUE SELECT n, 's' || n, 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0 FROM generate_series(1, 2) n;
        INSERT INTO store_state (store_id) SELECT store_id FROM store;
        INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at, deleted_at)
        SELECT s, n, 'k' || n, 'S', '', int4send(n), now(), CASE WHEN n = 4 THEN now() END
        FROM generate_series(1, 2) s CROSS JOIN generate_series(1, 4) n;
        INSERT INTO product (store_id, sku, name, name_key, created_at, modified_at)
        SELECT s, 'p' || n, 'P', '', now(), now() FROM generate_series(1, 2) s CROSS JOIN generate_series(1, 3) n;
        INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 1), ('bob', 1, 1);
        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at)
        SELECT u, ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'L', true, 'position', 1, now(), now()
        FROM unnest('{ann,bob}'::text[]) AS u CROSS JOIN generate_series(1, 2) n;
        """

    /// The strength of a lock: the number of kinds of locks that it excludes, out of KEY SHARE, SHARE, NO KEY UPDATE and UPDATE.
    private static let (keyShare, share, noKeyUpdate, update) = (1, 2, 3, 4)

    /// Runs a statement in an open transaction, and returns the strengths of its locks by row.
    private static func locks(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        in rows: SQL,
        _ catalog: PostgresCatalog
    ) async throws -> [String: Int] {
        try await catalog.database.writes.withConnection { holder in
            try await holder.perform { connection in
                try connection.begin()
                _ = try connection.execute(statement, parameters)
            }
            let strengths = try await catalog.database.batch.perform { connection in
                let all = try connection.query(PostgresStatement(rows)) { try $0.map { try $0.text(0) } }
                var strengths: [String: Int] = [:]
                for kind in ["KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"] as [SQL] {
                    let free = try connection.query("\(rows) FOR \(kind) SKIP LOCKED") {
                        Set(try $0.map { try $0.text(0) })
                    }
                    for row in all where !free.contains(row) { strengths[row, default: 0] += 1 }
                }
                return strengths
            }
            try await holder.perform { $0.rollback() }
            return strengths
        }
    }

    @Test("Each lock holds the rows of its store, shelf, product, list or user only, with its strength")
    func rowLocks() async throws {
        let (states, shelves): (SQL, SQL) = (
            "SELECT store_id::text FROM store_state", "SELECT store_id || ' ' || shelf_id FROM shelf"
        )
        let products: SQL = "SELECT store_id || ' ' || sku FROM product"
        let lists: SQL = "SELECT user_id || right(list_id::text, 1) FROM user_list"
        let accounts: SQL = "SELECT user_id FROM user_account"
        let list: [PostgresValue] = [.text("ann"), .text("00000000-0000-0000-0000-000000000001")]
        let cases: [(PostgresStatement, [PostgresValue], SQL, [String: Int])] = [
            (ShelfStatements.lockStoreExclusively, [.int4(1)], states, ["1": Self.update]),
            (ShelfStatements.lockStore, [.int4(1)], states, ["1": Self.noKeyUpdate]),
            (ShelfStatements.lockStoreShared, [.int4(1)], states, ["1": Self.share]),
            (ShelfStatements.lockStoreAgainstDeletion, [.int4(1)], states, ["1": Self.keyShare]),
            (ShelfStatements.lock, [.int4(1), .int4(2)], shelves, ["1 2": Self.noKeyUpdate]),
            (
                ShelfStatements.lockAll, [.int4(1)], shelves,
                Dictionary(uniqueKeysWithValues: (1...4).map { ("1 \($0)", Self.noKeyUpdate) })
            ),
            (ShelfStatements.lockByKey, [.int4(1), .text("k4")], shelves, ["1 4": Self.noKeyUpdate]),
            (ShelfStatements.lockExisting, [.int4(1), .text("k2")], shelves, ["1 2": Self.noKeyUpdate]),
            (ShelfStatements.lockExisting, [.int4(1), .text("k4")], shelves, [:]),
            (
                ShelfStatements.lockSome, [.int4(1), .int8Array([3, 1])], shelves,
                ["1 1": Self.noKeyUpdate, "1 3": Self.noKeyUpdate]
            ),
            (ManualOrderStatements.lockShelf, [.int4(1), .int4(2)], shelves, ["1 2": Self.noKeyUpdate]),
            (
                ShelfStatements.lockProducts, [.int4(1), .textArray(["p1", "p3", "x"])], products,
                ["1 p1": Self.update, "1 p3": Self.update]
            ),
            (ListStatements.lock, list, lists, ["ann1": Self.update]),
            (UserStatements.lockAccount, [.text("ann")], accounts, ["ann": Self.noKeyUpdate]),
            (UserStatements.lockForErasure, [.text("ann")], accounts, ["ann": Self.update]),
        ]
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await catalog.database.writes.perform { try $0.run(script: Self.rows) }
            for (statement, parameters, rows, expected) in cases {
                let found = try await Self.locks(statement, parameters, in: rows, catalog)
                #expect(found == expected, "\(statement.sql)")
            }
        }
    }
}
