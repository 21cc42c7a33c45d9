internal import CLibPQ
internal import Platform

// Statements that share a round trip, so that locks are held for a shorter time.
extension PostgresConnection {
    /// The maximum number of deferred statements: their names stay cached, and neither side's buffers fill up.
    private static let deferredLimit = 64

    /// Defers a statement to the next round trip, which may be the preparation of another one. Its error is thrown there.
    ///
    /// Use it only inside a transaction.
    package func executeDeferred(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws {
        try deferCall(try prepare(statement, parameters))
    }

    func deferCall(_ call: PreparedCall) throws {
        if deferredCalls.count >= Self.deferredLimit { try flushDeferred() }
        deferredCalls.append(call)
    }

    /// Runs statements in sequence in one round trip, each with its own snapshot.
    ///
    /// - Parameter read: called with the index and rows of each statement.
    /// - Throws: the first error. Later statements did not run, unless the error came from `read`.
    package func queryBatch(
        _ queries: [PostgresQuery],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        let calls = try queries.map { try prepare($0.statement, $0.parameters) }
        let earlier = takeDeferred()
        try exchange(earlier + calls) { index, rows in
            if index >= earlier.count { try read(index - earlier.count, rows) }
        }
    }

    /// Runs the deferred statements.
    func flushDeferred() throws {
        if !deferredCalls.isEmpty { try exchange(takeDeferred()) { _, _ in } }
    }

    func takeDeferred() -> [PreparedCall] {
        defer { deferredCalls = [] }
        return deferredCalls
    }

    /// Sends calls in one round trip, preceded by the settings at the start of a transaction, and followed by the epilogue if they
    /// end one. If only one transaction may be in flight, the epilogue follows in a round trip of its own.
    func exchange(
        _ calls: [PreparedCall],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        try checkInterrupt()
        var calls = calls
        let epilogue = epilogue(of: calls)
        let settings = try insertSettings(into: &calls)
        let raw = try open()
        let recorder = StepRecorder.current
        var start = recorder.map { _ in ContinuousClock.now }
        guard PQenterPipelineMode(raw) == 1 else { throw lost(raw) }
        for call in calls {
            guard call.send(raw) == 1 else { throw lost(raw) }
        }
        guard PQpipelineSync(raw) == 1 else { throw lost(raw) }
        let isEpilogueSent = !epilogue.isEmpty && inFlightLimit > 1
        if isEpilogueSent { try send(epilogue: epilogue, raw) }
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
            if let recorder, let previous = start {
                start = calls[index].record(recorder, names, from: previous, failure: failure)
                if failure != nil { start = nil }
            }
        }
        guard PQstatus(raw) == CONNECTION_OK else {
            let error = lost(raw)
            if let serverError = failure as? PostgresError, serverError.sqlState != nil { throw serverError }
            throw error
        }
        let end = try nextResult(raw)
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw lost(raw) }
        if isEpilogueSent || (!epilogue.isEmpty && failure == nil) {
            receive(epilogue, raw, isSent: isEpilogueSent, isFollowed: failure == nil)
        }
        guard self.handle != nil else {
            // The transaction has ended, so its outcome is known.
            if let failure { throw failure }
            return
        }
        guard PQexitPipelineMode(raw) == 1 else { throw lost(raw) }
        if let failure { throw failure }
    }

    /// Returns the calls of the epilogue if calls end a transaction: its preparation at the first use, and the query.
    private func epilogue(of calls: [PreparedCall]) -> [PreparedCall] {
        guard let epilogue, let first = calls.first, let last = calls.last, !last.isPreparation,
            last.endsTransaction || (isBetweenTransactions && !first.beginsTransaction)
        else { return [] }
        let buffers = ParameterBuffers([])
        if let name = statements.name(of: epilogue.statement) {
            return [PreparedCall(statement: epilogue.statement, name: name, buffers: buffers)]
        }
        let call = PreparedCall(
            statement: epilogue.statement,
            name: statements.insert(epilogue.statement),
            buffers: buffers
        )
        guard call.name != nil else { return [call] }
        var preparation = call
        preparation.isPreparation = true
        return [preparation, call]
    }

    private func send(epilogue calls: [PreparedCall], _ raw: OpaquePointer) throws {
        for call in calls {
            guard call.send(raw) == 1 else { throw lost(raw) }
        }
        guard PQpipelineSync(raw) == 1 else { throw lost(raw) }
    }

    /// Reads the results of the epilogue, which is sent first if it was not. If the connection fails, it is closed.
    private func receive(_ calls: [PreparedCall], _ raw: OpaquePointer, isSent: Bool, isFollowed: Bool) {
        do {
            if !isSent {
                try send(epilogue: calls, raw)
                try flush(raw)
            }
            for call in calls {
                while let result = try nextResult(raw) {
                    let rows = PostgresRows(adopting: result)
                    switch rows.status {
                    case PGRES_TUPLES_OK: if isFollowed { try epilogue?.read(rows) }
                    case PGRES_COMMAND_OK: break
                    default: statements.remove(call.statement)
                    }
                }
            }
            let end = try nextResult(raw)
            defer { PQclear(end) }
            if PQresultStatus(end) != PGRES_PIPELINE_SYNC { handle = nil }
        } catch {
            // Its rows are unread, or the connection was lost.
            handle = nil
        }
    }

    /// Inserts the settings statement if these calls start a transaction; returns its index.
    private func insertSettings(into calls: inout [PreparedCall]) throws -> Int? {
        guard isBetweenTransactions, let statement = settings.statement else { return nil }
        let call = try prepare(statement, settings.parameters(until: deadline))
        let index = calls.first?.beginsTransaction == true ? 1 : 0
        calls.insert(call, at: index)
        return index
    }
}
