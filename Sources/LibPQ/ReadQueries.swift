/// The queries of a read, with the functions that fold their rows into two values: the queries that reads share, and then those that
/// run in sequence.
package struct ReadQueries<Shared: Sendable, Own: Sendable>: Sendable {
    package private(set) var shared: [SharedQuery]
    package private(set) var initialShared: Shared
    private(set) var sharedRow: @Sendable (inout Shared, Int, borrowing PostgresRow) throws -> Void
    package private(set) var own: [PostgresQuery]
    package private(set) var initialOwn: Own
    private(set) var ownRows: @Sendable (inout Own, Int, borrowing PostgresRows) throws -> Void

    /// - Parameters:
    ///   - sharedRow: called on the pipeline's thread with the index of each shared query and each of its rows that has the read's
    ///     key; must be quick.
    ///   - ownRows: the same as `sharedRow` for the rows of each other query.
    package init(
        sharing shared: [SharedQuery],
        into initialShared: Shared,
        _ sharedRow: @escaping @Sendable (inout Shared, Int, borrowing PostgresRow) throws -> Void,
        then own: [PostgresQuery],
        into initialOwn: Own,
        _ ownRows: @escaping @Sendable (inout Own, Int, borrowing PostgresRows) throws -> Void
    ) {
        (self.shared, self.initialShared, self.sharedRow) = (shared, initialShared, sharedRow)
        (self.own, self.initialOwn, self.ownRows) = (own, initialOwn, ownRows)
    }

    package var isEmpty: Bool { shared.isEmpty && own.isEmpty }

    /// Returns a part of the queries, whose rows are folded into other values.
    ///
    /// - Parameters:
    ///   - shared: for each shared query, the one to run instead; nil to leave it out.
    ///   - own: the same for the other queries.
    ///   - values: the values so far.
    package func part(
        _ shared: [SharedQuery?],
        _ own: [PostgresQuery?],
        into values: (shared: Shared, own: Own)
    ) -> ReadQueries {
        var part = self
        (part.shared, part.initialShared) = (shared.compactMap { $0 }, values.shared)
        (part.own, part.initialOwn) = (own.compactMap { $0 }, values.own)
        if part.shared.count < shared.count {
            let (row, numbers) = (sharedRow, shared.indices.filter { shared[$0] != nil })
            part.sharedRow = { try row(&$0, numbers[$1], $2) }
        }
        if part.own.count < own.count {
            let (rows, numbers) = (ownRows, own.indices.filter { own[$0] != nil })
            part.ownRows = { try rows(&$0, numbers[$1], $2) }
        }
        return part
    }
}

extension PostgresPipeline {
    /// Runs queries after one about the server. They run in the same transaction, whose statements have later snapshots.
    ///
    /// - Parameters:
    ///   - query: the query about the server.
    ///   - state: reads its row.
    /// - Returns: the state of the server, or nil without a row, and the values of the queries.
    package func read<State: Sendable, Shared: Sendable, Own: Sendable>(
        checking query: SharedQuery,
        _ state: @escaping @Sendable (borrowing PostgresRow) throws -> State,
        before queries: ReadQueries<Shared, Own>
    ) async throws -> (state: State?, values: (shared: Shared, own: Own)) {
        let sharedRow = queries.sharedRow
        let found = try await read(
            ReadQueries(
                sharing: [query] + queries.shared,
                into: Checked<State, Shared>(value: queries.initialShared),
                { found, index, row in
                    if index == 0 {
                        found.state = try state(row)
                    } else {
                        try sharedRow(&found.value, index - 1, row)
                    }
                },
                then: queries.own,
                into: queries.initialOwn,
                queries.ownRows
            )
        )
        return (state: found.shared.state, values: (shared: found.shared.value, own: found.own))
    }
}

/// The value of shared queries, and the state of the server before them.
private struct Checked<State: Sendable, Value: Sendable>: Sendable {
    var value: Value
    var state: State?
}
