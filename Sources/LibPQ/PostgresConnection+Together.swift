internal import CLibPQ

/// A statement with its parameters, ready to be sent.
struct PreparedCall {
    let statement: PostgresStatement
    /// The name that it is prepared under; nil sends its text.
    let name: String?
    let buffers: ParameterBuffers

    /// Whether the call prepares the statement without running it.
    var isPreparation = false

    var beginsTransaction: Bool { statement.sql.hasPrefix("BEGIN") && !isPreparation }

    func send(_ raw: OpaquePointer) -> Int32 {
        if isPreparation { return sendPreparation(raw) }
        return buffers.withPointers { count, values, lengths, formats in
            if let name { return PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) }
            return PQsendQueryParams(raw, statement.sql, count, buffers.oids, values, lengths, formats, 1)
        }
    }

    /// Sends the preparation; `name` must not be nil.
    func sendPreparation(_ raw: OpaquePointer) -> Int32 {
        PQsendPrepare(raw, name, statement.sql, Int32(buffers.oids.count), buffers.oids)
    }
}

// Statements that share a round trip: what holds a lock holds it for less long.
extension PostgresConnection {
    /// So many statements wait at most: their names stay known, and neither side's buffers fill.
    private static let laterLimit = 64

    /// Sends a statement with the next round trip, which may be the preparation of another statement. Its error is thrown there.
    ///
    /// Only inside a transaction.
    package func executeLater(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws {
        if later.count >= Self.laterLimit { try runLater() }
        later.append(try prepare(statement, parameters))
    }

    /// Runs statements one after another in one round trip, each with a snapshot of its own.
    ///
    /// - Parameter read: gets each one's index and rows.
    /// - Throws: what the first that failed throws; those behind it did not run, but where reading it failed.
    package func together(
        _ queries: [PostgresQuery],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        let calls = try queries.map { try prepare($0.statement, $0.parameters) }
        let earlier = takeLater()
        try exchange(earlier + calls) { index, rows in
            if index >= earlier.count { try read(index - earlier.count, rows) }
        }
    }

    /// Runs what waits.
    func runLater() throws {
        if !later.isEmpty { try exchange(takeLater()) { _, _ in } }
    }

    func takeLater() -> [PreparedCall] {
        defer { later = [] }
        return later
    }

    /// Sends calls in one round trip, after the settings where a transaction begins.
    func exchange(
        _ calls: [PreparedCall],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        try checkInterrupt()
        var calls = calls
        let settings = try insertSettings(into: &calls)
        let raw = try open()
        guard PQenterPipelineMode(raw) == 1 else { throw lost(raw) }
        for call in calls {
            guard call.send(raw) == 1 else { throw lost(raw) }
        }
        guard PQpipelineSync(raw) == 1 else { throw lost(raw) }
        try flush(raw)
        var failure: (any Error)?
        for index in calls.indices {
            while let result = try nextResult(raw) {
                let rows = PostgresRows(adopting: result)
                guard failure == nil else { continue }
                switch rows.status {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
                    if index == settings { continue }
                    do { try read(index - (settings.map { $0 < index } ?? false ? 1 : 0), rows) } catch {
                        failure = error
                    }
                default: failure = serverError(result)
                }
            }
        }
        guard PQstatus(raw) == CONNECTION_OK else {
            let error = lost(raw)
            if let said = failure as? PostgresError, said.sqlState != nil { throw said }
            throw error
        }
        let end = try nextResult(raw)
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC, PQexitPipelineMode(raw) == 1 else { throw lost(raw) }
        if let failure { throw failure }
    }

    /// Adds what applies the settings to the transaction that begins with these calls; returns its index.
    private func insertSettings(into calls: inout [PreparedCall]) throws -> Int? {
        guard isBetweenTransactions, let statement = settings.statement else { return nil }
        let call = try prepare(statement, settings.parameters(until: deadline))
        let index = calls.first?.beginsTransaction == true ? 1 : 0
        calls.insert(call, at: index)
        return index
    }
}
