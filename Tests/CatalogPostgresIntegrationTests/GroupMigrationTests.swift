import Catalog
import CatalogPostgres
import LibPQ
import TestSupport
import Testing

/// The migration that adds groups, with remembered views.
@Suite(.timeLimit(.minutes(15))) struct GroupMigrationTests {
    private static let before = 38

    @Test("Going back keeps the sorts and filters of remembered views, without what they say about groups")
    func goesBack() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let tags = (0..<80).map { "\"\($0)\(String(repeating: "t", count: 45))\"" }.joined(separator: ",")
        let values: [(key: String, value: String)] = [
            ("stores/s/shelves/a/sort", #"{"sort":"price","filter":{"in_stock":true},"collapse":true}"#),
            ("stores/s/shelves/b/sort", #"{"sort":"name","collapse":false}"#),
            ("stores/s/shelves/c/sort", #"{"sort":"price","filter":{"tag":[\#(tags)]},"collapse":true}"#),
            ("stores/s/sort", #""-price""#),
            ("app/sort", #"{"collapse":1e4000}"#),
        ]
        let rows = values.enumerated().map { "('ann', '\($1.key)', '\($1.value)', \($0 + 1), now())" }
        let script = """
            INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 9, 0);
            INSERT INTO user_setting (user_id, key, value, revision, modified_at) VALUES \(rows.joined(separator: ", "))
            """
        try await pool.perform { try $0.run(script: script) }
        _ = try await Migrator(pool).migrate(to: Self.before)
        func stored(_ key: String) async throws -> String {
            let statement: PostgresStatement =
                "SELECT string_agg(key || ' ' || value::text, '\n' ORDER BY key) FROM user_setting"
            let all = try await pool.perform { try $0.query(statement) { try $0.first { try $0.text(0) } ?? "" } }
            let line = all.split(separator: "\n").first { $0.hasPrefix(key + " ") }
            return line.map { String($0.dropFirst(key.utf8.count + 1)) } ?? ""
        }
        #expect(try await stored("stores/s/shelves/a/sort") == #"{"sort": "price", "filter": {"in_stock": true}}"#)
        #expect(try await stored("stores/s/shelves/b/sort") == #"{"sort": "name"}"#)
        #expect(try await stored("stores/s/shelves/c/sort") == #""price""#)
        #expect(try await stored("stores/s/sort") == #""-price""#)
        #expect(try await stored("app/sort") == #"{"collapse":1e4000}"#)
        pool.shutDown()
        try await database.drop()
    }
}
