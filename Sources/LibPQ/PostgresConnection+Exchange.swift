internal import CLibPQ
internal import Platform

// Calls that share a round trip, so that locks are held for a shorter time.
extension PostgresConnection {
    /// The maximum number of deferred calls, so that neither side's buffers fill up.
    private static let deferredLimit = 64

    /// Defers a call to the next round trip.
    func deferCall(_ call: PreparedCall) throws {
        if deferredCalls.count >= Self.deferredLimit { try flushDeferred() }
        deferredCalls.append(call)
    }

    /// Runs the deferred calls.
    func flushDeferred() throws {
        if !deferredCalls.isEmpty { try exchange(takeDeferred()) { _, _ in } }
    }

    func takeDeferred() -> [PreparedCall] {
        defer { deferredCalls = [] }
        return deferredCalls
    }

    /// Sends calls in one round trip, preceded by the settings at the start of a transaction, and followed by the epilogue if they
    /// end one. If only one transaction may be in flight, the epilogue follows in a round trip of its own.
    ///
    /// - Parameter read: called with the number and the rows of each query.
    func exchange(
        _ calls: [PreparedCall],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        try checkInterrupt()
        let handle = try open()
        let recording = CallRecording.current
        let epilogue = endsTransaction(calls, handle) ? self.epilogue : nil
        let following = epilogue.map { [PreparedCall($0.statement, [], .query(0))] }
        let calls = withSettings(calls, handle)
        try handle.enterPipelineMode()
        let sent = try send(calls, handle)
        var sentFollowing: [PreparedCall]?
        if let following, inFlightLimit > 1 { sentFollowing = try send(following, handle) }
        try flush(handle)
        let failure = try receive(sent, handle, recording, read)
        // If only `read` failed, the server has ended the transaction.
        let wasRejected = (failure as? PostgresError)?.sqlState != nil
        if let epilogue, let following, sentFollowing != nil || failure == nil {
            do {
                if sentFollowing == nil {
                    sentFollowing = try send(following, handle)
                    try flush(handle)
                }
                let error = try receive(sentFollowing ?? [], handle) { if !wasRejected { try epilogue.read($1) } }
                if error != nil, !wasRejected { epilogue.failed() }
            } catch {
                // The transaction has ended, so its outcome is known.
                self.handle = nil
                if !wasRejected { epilogue.failed() }
            }
        }
        if self.handle != nil { try handle.exitPipelineMode() }
        if let failure { throw failure }
    }

    /// Returns calls with the settings, if the calls start a transaction.
    private func withSettings(_ calls: [PreparedCall], _ handle: ConnectionHandle) -> [PreparedCall] {
        guard handle.transactionIsIdle, let settings = handle.settingsCall(until: deadline) else { return calls }
        var calls = calls
        calls.insert(settings, at: calls.first?.role == .begin ? 1 : 0)
        return calls
    }

    /// Returns whether calls end a transaction, either with a COMMIT or ROLLBACK, or because they have no BEGIN.
    private func endsTransaction(_ calls: [PreparedCall], _ handle: ConnectionHandle) -> Bool {
        guard let first = calls.first, let last = calls.last else { return false }
        return last.role == .end || (handle.transactionIsIdle && first.role != .begin)
    }

    /// Queues calls, each after the preparation of its statement at the first use, and a sync; returns all that was queued.
    ///
    /// Parsing may wait for locks. So a preparation comes after the settings and the transaction's own changes to them.
    private func send(_ calls: [PreparedCall], _ handle: ConnectionHandle) throws(PostgresError) -> [PreparedCall] {
        var sent: [PreparedCall] = []
        for var call in calls {
            if let preparation = handle.prepare(&call) { sent.append(preparation) }
            sent.append(call)
        }
        for call in sent { try handle.send(call) }
        try handle.sendSync()
        return sent
    }

    /// Reads the results of calls that were sent together, and of the sync.
    ///
    /// - Parameter recording: records the calls; nil if nobody needs their steps.
    /// - Returns: the first error of a call or of `read`; nil if all succeeded.
    /// - Throws: the error that ended the wait. Then the connection is closed, or no result is outstanding.
    private func receive(
        _ calls: [PreparedCall],
        _ handle: ConnectionHandle,
        _ recording: CallRecording? = nil,
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws -> (any Error)? {
        var failure: (any Error)?
        var start = recording?.start
        var unread = calls[...]
        // If the wait ends early, nothing is known of the other preparations.
        defer { for call in unread where call.role == .preparation { handle.forget(call.statement) } }
        func record(_ call: PreparedCall, _ error: (any Error)?) {
            guard let recorder = recording?.recorder, let from = start else { return }
            let end = ContinuousClock.now
            let kind: StepRecorder.Step.Kind = call.role == .preparation ? .preparation : .statement
            recorder.record(handle.names.step(of: call.statement, kind, start: from, end: end, failure: error))
            start = error == nil ? end : nil
        }
        for call in calls {
            do {
                while let result = try nextResult(handle) {
                    let rows = PostgresRows(adopting: result)
                    let preparation = call.role == .preparation ? call.statement : nil
                    switch handle.outcome(of: rows, preparing: preparation) {
                    case .success:
                        guard failure == nil, case .query(let number) = call.role else { continue }
                        do { try read(number, rows) } catch { failure = error }
                    case .failure(let error): failure = failure ?? error
                    case .skipped: failure = failure ?? PostgresError(.misuse, "the statement did not run")
                    case .copy, .sync:
                        // Without an end of the copy, every result would be the same.
                        self.handle = nil
                        throw PostgresError(.misuse, "COPY needs its own call")
                    }
                }
            } catch {
                record(call, error)
                throw error
            }
            record(call, failure)
            unread = unread.dropFirst()
        }
        guard handle.isOpen else {
            if let error = failure as? PostgresError, error.sqlState != nil { throw error }
            throw handle.lost()
        }
        // The end of a transaction without COMMIT can fail: constraints may be deferred.
        for _ in 0..<3 {
            guard let result = try nextResult(handle) else { continue }
            let rows = PostgresRows(adopting: result)
            switch handle.outcome(of: rows) {
            case .sync: return failure
            case .failure(let error): failure = failure ?? error
            case .success, .skipped, .copy: throw handle.lost()
            }
        }
        throw handle.lost()
    }
}
