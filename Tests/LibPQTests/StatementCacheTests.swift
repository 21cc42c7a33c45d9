import Testing

@testable import LibPQ

/// The names of prepared statements.
@Suite(.timeLimit(.minutes(15))) struct StatementCacheTests {
    @Test("A statement keeps its name, and a name is never given to another statement")
    func names() {
        var cache = StatementCache(capacity: 2)
        #expect(cache.name(of: "SELECT 1") == nil)
        let first = cache.insert("SELECT 1")
        let second = cache.insert("SELECT 2")
        #expect(first != nil && second != nil && first != second)
        #expect(cache.name(of: "SELECT 1") == first)
        #expect(cache.name(of: "SELECT 2") == second)
        // The server may have a statement under the former name.
        cache.remove("SELECT 1")
        #expect(cache.name(of: "SELECT 1") == nil)
        let third = cache.insert("SELECT 1")
        #expect(third != nil && third != first && third != second)
    }

    @Test("Statements beyond the capacity have no names, and make the connection worn out after 2000 uses")
    func capacity() {
        var cache = StatementCache(capacity: 1)
        #expect(cache.insert("SELECT 1") != nil)
        for _ in 0..<2000 { #expect(cache.insert("SELECT 2") == nil) }
        #expect(!cache.isWornOut)
        #expect(cache.insert("SELECT 2") == nil)
        #expect(cache.isWornOut)
        #expect(cache.name(of: "SELECT 2") == nil)
    }

    @Test("A connection without names does not wear out")
    func withoutNames() {
        var cache = StatementCache(capacity: 0)
        for _ in 0..<3000 { #expect(cache.insert("SELECT 1") == nil) }
        #expect(!cache.isWornOut)
    }

    @Test("The name of a statement in logs is its own, or the first one that was registered, or its command")
    func namesInLogs() {
        let names = StatementNames([("A.one", ["SELECT 1", "SELECT 2"]), ("B.two", ["SELECT 2"])])
        let renamed: PostgresStatement = "SELECT 1"
        #expect(names.name(of: "SELECT 1") == "A.one")
        #expect(names.name(of: "SELECT 2") == "A.one")
        #expect(names.name(of: "select 3") == "SELECT")
        #expect(names.name(of: renamed.named("Own")) == "Own")
        #expect(StatementNames.none.name(of: "SELECT 1") == "SELECT")
    }

    @Test(
        "The command of SQL is its first word",
        arguments: [
            ("SELECT 1", "SELECT"), ("\n  insert into t", "INSERT"), ("COMMIT", "COMMIT"), ("", "SQL"), ("  ", "SQL"),
            ("/* a */ SELECT 1", "SQL"), ("VACUUM(FULL)", "VACUUM"),
            (String(repeating: "a", count: 25), String(repeating: "A", count: 24)),
        ]
    )
    func commands(_ sql: String, _ command: String) { #expect(StatementNames.command(sql) == command) }

    @Test("Statements are equal if their texts are, whatever their names")
    func equality() {
        let statement: PostgresStatement = "SELECT 1"
        let named = statement.named("Own")
        #expect(named == statement && named.sql == "SELECT 1" && named.name == "Own")
        #expect(Set([statement, named]).count == 1)
        #expect(statement != "SELECT 2")
    }
}
