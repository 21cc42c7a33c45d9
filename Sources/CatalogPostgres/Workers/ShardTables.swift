internal import LibPQ
internal import Synchronization

/// The names of the tables on a worker for a group of stores: the shards with these stores, and the copies of reference tables.
///
/// A statement that names the shards is a statement about ordinary tables, and the worker plans it once. Citus plans a
/// statement that names the distributed tables each time.
final class ShardTables: Sendable {
    /// The name of the shard of each table.
    private let shards: [String: String]
    /// Statements with names of shards; nil for those that also need other tables.
    private let statements = Mutex<[PostgresStatement: PostgresStatement?]>([:])

    /// The maximum number of statements: one for each kind of page. With 100 shards, the statements of all shards take 30 MB.
    private static let limit = 256

    init(_ shards: [String: String]) { self.shards = shards }

    /// Returns a statement that names shards; nil if it also needs other tables.
    ///
    /// - Parameter names: the names of statements in logs and traces.
    func statement(_ original: PostgresStatement, _ names: StatementNames) -> PostgresStatement? {
        if let known = statements.withLock({ $0[original] }) { return known }
        let found = sql(original.sql).map { PostgresStatement(SQL(unchecked: $0), name: names.name(of: original)) }
        statements.withLock { statements in
            if statements.count >= Self.limit { statements.removeAll() }
            statements[original] = .some(found)
        }
        return found
    }

    /// Returns a text in which FROM and JOIN name shards; nil if they also name other tables. A shard without an alias gets the
    /// name of the table as alias.
    ///
    /// - Parameter sql: a statement of this program. It has no comments and no lists of tables.
    /// - Complexity: O(*n*) in the length of the text.
    func sql(_ sql: String) -> String? {
        let tokens = SQLToken.tokens(of: sql)
        let queries = Self.namedQueries(tokens)
        var text = ""
        for (index, token) in tokens.enumerated() {
            guard Self.namesTable(index, tokens), !queries.contains(token.text) else {
                text += token.text
                continue
            }
            guard let shard = shards[String(token.text)] else { return nil }
            text += shard
            if !Self.hasAlias(index, tokens) { text += " AS \(token.text)" }
        }
        return text
    }

    /// Returns the names of queries in WITH clauses: `name AS (…)` or `name (columns) AS (…)`.
    private static func namedQueries(_ tokens: [SQLToken]) -> Set<Substring> {
        let tokens = tokens.filter { !$0.isSpace }
        var names: Set<Substring> = []
        for index in tokens.indices.dropFirst().dropLast()
        where tokens[index].text == "AS" && tokens[index + 1].text == "(" {
            var before = index - 1
            if tokens[before].text == ")" { before = (tokens[..<before].lastIndex { $0.text == "(" } ?? 0) - 1 }
            if before >= 0, tokens[before].isWord { names.insert(tokens[before].text) }
        }
        return names
    }

    /// Returns whether a token is the name of a table: a word after FROM or JOIN that is neither the name of a function nor of a column.
    private static func namesTable(_ index: Int, _ tokens: [SQLToken]) -> Bool {
        guard tokens[index].isWord, let before = tokens[..<index].last(where: { !$0.isSpace }),
            before.text == "FROM" || before.text == "JOIN", tokens[index].text != "LATERAL"
        else { return false }
        // `IS DISTINCT FROM x`, where x may be a column.
        if before.text == "FROM", tokens[..<before.index].last(where: { !$0.isSpace })?.text == "DISTINCT" {
            return false
        }
        guard index + 1 < tokens.count else { return true }
        return tokens[index + 1].text != "." && tokens[index + 1].text != "("
    }

    /// Returns whether the table at an index has an alias.
    private static func hasAlias(_ index: Int, _ tokens: [SQLToken]) -> Bool {
        guard let next = tokens[(index + 1)...].first(where: { !$0.isSpace }), next.isWord else { return false }
        return next.text == "AS" || next.text != next.text.uppercased()
    }
}

/// A part of a statement: a word, a literal or quoted name, space, or one other character.
private struct SQLToken {
    /// The position among all tokens.
    let index: Int
    let text: Substring

    var isWord: Bool { text.first.map { $0.isLetter || $0 == "_" } ?? false }
    var isSpace: Bool { text.first?.isWhitespace ?? false }

    static func tokens(of sql: String) -> [SQLToken] {
        var tokens: [SQLToken] = []
        var rest = sql[...]
        while let first = rest.first {
            let length: Int
            if first.isLetter || first == "_" {
                length = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }.count
            } else if first.isWhitespace {
                length = rest.prefix { $0.isWhitespace }.count
            } else if first == "'" || first == "\"" {
                // A doubled quote ends one literal and begins the next.
                length = rest.dropFirst().prefix { $0 != first }.count + 2
            } else {
                length = 1
            }
            tokens.append(SQLToken(index: tokens.count, text: rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return tokens
    }
}
