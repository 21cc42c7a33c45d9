import Schema
import Testing

/// Scripts are split into the statements that PostgreSQL would run.
@Suite struct StatementSplitterTests {
    @Test(
        "A semicolon ends a statement only where it is code",
        arguments: [
            ("", []), ("  \n", []), (";;", []), ("-- only a comment\n", []), ("/* only; a comment */", []),
            ("SELECT 1", ["SELECT 1"]), ("SELECT 1;", ["SELECT 1"]), ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
            ("-- one;\nSELECT 1;\n-- two\nSELECT 2;\n-- end", ["-- one;\nSELECT 1", "-- two\nSELECT 2"]),
            ("SELECT ';', 'it''s;'; SELECT 2", ["SELECT ';', 'it''s;'", "SELECT 2"]),
            (#"SELECT E'\';', e'\\'; SELECT 2"#, [#"SELECT E'\';', e'\\'"#, "SELECT 2"]),
            (#"SELECT name'\'; SELECT 2"#, [#"SELECT name'\'"#, "SELECT 2"]),
            (#"SELECT ";" FROM "a"";b"; SELECT 2"#, [#"SELECT ";" FROM "a"";b""#, "SELECT 2"]),
            ("DO $$ BEGIN; END; $$; SELECT 2", ["DO $$ BEGIN; END; $$", "SELECT 2"]),
            ("DO $a$ x; $b$ y; $$ z; $a$; SELECT 2", ["DO $a$ x; $b$ y; $$ z; $a$", "SELECT 2"]),
            ("SELECT $1; SELECT a$b$; SELECT 3", ["SELECT $1", "SELECT a$b$", "SELECT 3"]),
            ("SELECT 1 /* a; /* b; */ c; */; SELECT 2", ["SELECT 1 /* a; /* b; */ c; */", "SELECT 2"]),
            // An open quote goes on to the end, as one statement that PostgreSQL rejects.
            ("SELECT 'open; SELECT 2", ["SELECT 'open; SELECT 2"]), ("DO $$ open;", ["DO $$ open;"]),
            ("SELECT 'å;ß'; SELECT 'é'", ["SELECT 'å;ß'", "SELECT 'é'"]),
        ] as [(String, [String])]
    )
    func splits(script: String, statements: [String]) {
        #expect(StatementSplitter.statements(of: script) == statements)
    }

    @Test("The statements of every migration are complete: they have all of its text but the semicolons between them")
    func splitsMigrations() {
        for migration in Schema.migrations {
            for script in [migration.up, migration.down, migration.up(isDistributed: true), Schema.distribution] {
                let statements = StatementSplitter.statements(of: script)
                #expect(!statements.isEmpty)
                var rest = script[...]
                for statement in statements {
                    guard let range = rest.firstRange(of: statement) else {
                        Issue.record("migration \(migration.version): \(statement)")
                        break
                    }
                    let between = rest[..<range.lowerBound]
                    #expect(between.allSatisfy { $0.isWhitespace || $0 == ";" }, "\(between)")
                    rest = rest[range.upperBound...]
                }
            }
        }
    }
}
