import Catalog
import LibPQ
import Testing

@testable import CatalogPostgres

/// Statements with the names of shards.
@Suite struct ShardTablesTests {
    private let tables = ShardTables(["placement": "placement_7", "shelf": "shelf_8", "store": "store_9"])

    @Test(
        "FROM and JOIN name shards, and nothing else does",
        arguments: [
            ("SELECT p.sku FROM placement p WHERE p.sku = $1", "SELECT p.sku FROM placement_7 p WHERE p.sku = $1"),
            ("SELECT 1 FROM placement AS p", "SELECT 1 FROM placement_7 AS p"),
            // A table without an alias keeps its name.
            ("SELECT placement.sku FROM placement", "SELECT placement.sku FROM placement_7 AS placement"),
            ("(SELECT 1 FROM shelf)", "(SELECT 1 FROM shelf_8 AS shelf)"),
            (
                "SELECT 1 FROM shelf\n    WHERE shelf.key = $1",
                "SELECT 1 FROM shelf_8 AS shelf\n    WHERE shelf.key = $1"
            ),
            (
                "SELECT 1 FROM shelf h LEFT JOIN placement ON true JOIN store s ON true",
                "SELECT 1 FROM shelf_8 h LEFT JOIN placement_7 AS placement ON true JOIN store_9 s ON true"
            ),
            // Functions, subqueries, columns and literals.
            (
                "SELECT 1 FROM unnest($1) AS w JOIN LATERAL (SELECT 1 FROM shelf h) x ON true",
                "SELECT 1 FROM unnest($1) AS w JOIN LATERAL (SELECT 1 FROM shelf_8 h) x ON true"
            ),
            ("SELECT ' FROM placement p' FROM shelf h", "SELECT ' FROM placement p' FROM shelf_8 h"),
            ("SELECT 'it''s FROM store', \"FROM store\"", "SELECT 'it''s FROM store', \"FROM store\""),
            (
                "SELECT extract(epoch FROM now()), a IS DISTINCT FROM store",
                "SELECT extract(epoch FROM now()), a IS DISTINCT FROM store"
            ),
            (
                "SELECT a FROM shelf h WHERE a IS DISTINCT FROM h.shelf",
                "SELECT a FROM shelf_8 h WHERE a IS DISTINCT FROM h.shelf"
            ),
            (
                "WITH a AS (SELECT 1 FROM shelf h), b (x) AS (SELECT 1 FROM a) SELECT 1 FROM b JOIN store s ON true",
                "WITH a AS (SELECT 1 FROM shelf_8 h), b (x) AS (SELECT 1 FROM a) SELECT 1 FROM b JOIN store_9 s ON true"
            ),
            ("SELECT 1", "SELECT 1"), ("", ""),
        ]
    )
    func namesShards(_ sql: String, _ expected: String) { #expect(tables.sql(sql) == expected) }

    @Test(
        "A statement that also needs other tables keeps its tables",
        arguments: [
            "SELECT 1 FROM user_setting", "SELECT 1 FROM shelf h JOIN user_account a ON true",
            "WITH x AS (SELECT 1 FROM y) SELECT * FROM x",
        ]
    )
    func keepsOthers(_ sql: String) { #expect(tables.sql(sql) == nil) }

    @Test("A statement keeps its name in logs, and is translated once")
    func keepsNames() {
        let original: PostgresStatement = "SELECT 1 FROM shelf h"
        let names = StatementNames([("ShelfLookup.example", [original])])
        let found = tables.statement(original, names)
        #expect(found?.sql == "SELECT 1 FROM shelf_8 h")
        #expect(found?.name == "ShelfLookup.example")
        #expect(tables.statement(original, names) == found)
        #expect(tables.statement("SELECT 1 FROM user_setting", names) == nil)
    }

    @Test("Every statement of a page and of a shelf can name shards")
    func namesAllTables() throws {
        let all = [
            "deployment", "placement", "placement_position", "product", "shelf", "shelf_change", "shelf_image", "store",
            "store_state",
        ]
        let tables = ShardTables(Dictionary(uniqueKeysWithValues: all.map { ($0, "\($0)_1") }))
        let unnamed = try Regex("(FROM|JOIN)\\s+(\(all.joined(separator: "|")))\\b")
        let statements = [
            ShelfLookup.versionsOfStore, ShelfLookup.oneHead, ShelfLookup.oneVersion, ShelfLookup.oneStore,
            ShelfReadStatements.latest, ShelfReadStatements.whole, ShelfReadStatements.position,
        ]
        for statement in statements {
            let found = try #require(tables.sql(statement.sql), "\(statement.sql)")
            #expect(statement.sql.contains(unnamed) && !found.contains(unnamed), "\(found)")
        }
    }
}
