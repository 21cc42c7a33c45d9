/// A query that several reads share: reads that are sent together run the query once, for all their keys.
package struct SharedQuery: Sendable {
    /// The statement. Its parameters are the scope and one array for each column of the key. Each row begins with the number of its
    /// key, counted from 1 (`WITH ORDINALITY`).
    package let statement: PostgresStatement
    let scope: [PostgresValue]
    let key: [PostgresValue]

    /// - Parameters:
    ///   - scope: the values that queries must have in common to be sent together.
    ///   - key: the values of the key's columns, each of type `int8` or `text`.
    package init(_ statement: PostgresStatement, scope: [PostgresValue] = [], key: [PostgresValue]) {
        precondition(
            key.allSatisfy { value in
                switch value {
                case .int8(_?), .text(_?): true
                default: false
                }
            },
            "a key has values of the types int8 and text, which are not NULL"
        )
        self.statement = statement
        self.scope = scope
        self.key = key
    }

    /// Returns the query with another statement, which takes the same parameters.
    package func replacing(_ statement: PostgresStatement) -> SharedQuery {
        SharedQuery(statement, scope: scope, key: key)
    }
}

/// A shared query with the keys of all reads that are sent together.
struct SharedQueryBatch {
    /// A read that waits for a key.
    struct Reader {
        let job: any PipelineJob
        /// The index of the query in its shared queries.
        let query: Int
    }

    let statement: PostgresStatement
    private let scope: [PostgresValue]
    private var numbers: [[PostgresValue]: Int] = [:]
    private var keys: [[PostgresValue]] = []
    private var readers: [[Reader]] = []

    /// Creates a batch without keys for queries like the given one.
    init(_ query: SharedQuery) { (statement, scope) = (query.statement, query.scope) }

    /// Whether a query can be sent with this batch.
    func canHold(_ query: SharedQuery) -> Bool { statement == query.statement && scope == query.scope }

    mutating func add(_ key: [PostgresValue], for reader: Reader) {
        if let number = numbers[key] { return readers[number].append(reader) }
        numbers[key] = keys.count
        keys.append(key)
        readers.append([reader])
    }

    /// The scope, and the keys as one array for each column.
    var parameters: [PostgresValue] {
        scope
            + (keys.first ?? []).indices.map { column in
                switch keys[0][column] {
                case .text: .textArray(keys.map { if case .text(let text?) = $0[column] { text } else { "" } })
                default: .int8Array(keys.map { if case .int8(let number) = $0[column] { number } else { nil } })
                }
            }
    }

    /// Calls a closure with each row and each read that waits for it.
    func forEachReader(of rows: borrowing PostgresRows, _ body: (Reader, borrowing PostgresRow) -> Void) throws {
        try rows.forEach { row in
            let number = try row.int(0) - 1
            guard readers.indices.contains(number) else { return }
            for reader in readers[number] { body(reader, row) }
        }
    }
}
