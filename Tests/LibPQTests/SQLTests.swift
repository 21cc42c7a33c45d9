import LibPQ
import Testing

/// SQL built from literals, and statements assembled from it.
@Suite(.timeLimit(.minutes(15))) struct SQLTests {
    private enum Slot: Hashable { case store, shelf }

    @Test("Fragments and numbers become part of the text")
    func fragmentsAreInterpolated() {
        let column: SQL = "price"
        let statement: PostgresStatement = "SELECT \(column) FROM product LIMIT \(20)"
        #expect(statement.sql == "SELECT price FROM product LIMIT 20")
        #expect((["a", "b"] as [SQL]).joined().text == "a, b")
    }

    @Test(
        "A literal is quoted whatever it contains",
        arguments: [
            ("plain", "E'plain'"), ("it's", "E'it''s'"), (#"a\b"#, #"E'a\\b'"#), ("'\u{301}", "E'''\u{301}'"),
            ("\\\u{301}", "E'\\\\\u{301}'"), ("", "E''"),
        ]
    )
    func literalsAreQuoted(_ text: String, _ quoted: String) {
        let sql: SQL = "\(literal: text)"
        #expect(Array(sql.text.unicodeScalars) == Array(quoted.unicodeScalars))
    }

    @Test("An identifier is quoted whatever it contains")
    func identifiersAreQuoted() {
        let sql: SQL = "\(identifier: "a\"\u{301}b")"
        #expect(Array(sql.text.unicodeScalars) == Array("\"a\"\"\u{301}b\"".unicodeScalars))
    }

    @Test("Parameters are numbered by their first occurrence, and each slot has one")
    func slotsAreNumbered() {
        let part: SQLTemplate<Slot> = "x = \(.shelf)"
        let template: SQLTemplate<Slot> = "\(part) AND y = \(.store) AND z = \(.shelf)"
        let (statement, slots) = template.statement(named: "Test")
        #expect(statement.sql == "x = $1 AND y = $2 AND z = $1")
        #expect(slots == [.shelf, .store])
    }

    @Test("Templates with the same text are equal")
    func equalTextsAreEqual() {
        let column: SQL = "p.brand"
        let assembled: SQLTemplate<Slot> = "\(column) IS \("" as SQL)NULL"
        #expect(assembled == "p.brand IS NULL")
    }

    @Test("Joined templates are separated by the separator")
    func templatesAreJoined() {
        let parts: [SQLTemplate<Slot>] = ["a = \(.store)", "b", "c = \(.store)"]
        let (statement, slots) = parts.joined(" AND ").statement(named: "Test")
        #expect(statement.sql == "a = $1 AND b AND c = $1")
        #expect(slots == [.store])
    }
}
