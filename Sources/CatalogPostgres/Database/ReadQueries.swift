internal import LibPQ

/// The queries of a read, with the functions that fold their rows into two values: the queries that reads share, and then those that
/// run in sequence.
struct ReadQueries<Shared: Sendable, Own: Sendable>: Sendable {
    var shared: [SharedQuery]
    var initialShared: Shared
    var sharedRow: @Sendable (inout Shared, Int, borrowing PostgresRow) throws -> Void
    var own: [PostgresQuery]
    var initialOwn: Own
    var ownRows: @Sendable (inout Own, Int, borrowing PostgresRows) throws -> Void

    var isEmpty: Bool { shared.isEmpty && own.isEmpty }

    /// Returns a part of the queries, whose rows are folded into other values.
    ///
    /// - Parameters:
    ///   - shared: for each shared query, the one to run instead; nil to leave it out.
    ///   - own: the same for the other queries.
    ///   - values: the values so far.
    func part(
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
    /// Runs queries on one connection, and folds their rows into two values.
    func read<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>
    ) async throws -> (shared: Shared, own: Own) {
        try await read(
            sharing: queries.shared,
            into: queries.initialShared,
            queries.sharedRow,
            then: queries.own,
            into: queries.initialOwn,
            queries.ownRows
        )
    }

    /// Runs queries after one about the server. They run in the same transaction, whose statements have later snapshots.
    ///
    /// - Parameters:
    ///   - query: the query about the server.
    ///   - state: reads its row.
    /// - Returns: the state of the server, or nil without a row, and the values of the queries.
    func read<State: Sendable, Shared: Sendable, Own: Sendable>(
        checking query: SharedQuery,
        _ state: @escaping @Sendable (borrowing PostgresRow) throws -> State,
        before queries: ReadQueries<Shared, Own>
    ) async throws -> (state: State?, values: (shared: Shared, own: Own)) {
        let sharedRow = queries.sharedRow
        let found = try await read(
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
        return (state: found.shared.state, values: (shared: found.shared.value, own: found.own))
    }
}

/// The value of shared queries, and the state of the server before them.
private struct Checked<State: Sendable, Value: Sendable>: Sendable {
    var value: Value
    var state: State?
}
