internal import CLibPQ
internal import Glibc
internal import Platform

// Sending, waiting and receiving, without blocking beyond the deadline.
extension PostgresConnection {
    func open() throws(PostgresError) -> ConnectionHandle {
        guard let handle, handle.isOpen else { throw PostgresError(.connection, "the connection is closed") }
        return handle
    }

    /// Runs SQL text without parameters, and reads the result of its last statement.
    ///
    /// - Parameter name: the name in logs and traces.
    func run<T>(_ text: String, named name: String, _ read: (borrowing PostgresRows) throws -> T) throws -> T {
        try flushDeferred()
        let handle = try open()
        return try StepRecorder.measure(.statement, name, failure: PostgresError.kind(of:)) {
            try checkInterrupt()
            try handle.send(script: text)
            try flush(handle)
            let rows = try lastResult(handle)
            return try read(rows)
        }
    }

    /// Writes queued data, and also reads while waiting, because the server may block until its output is read.
    func flush(_ handle: ConnectionHandle) throws(PostgresError) {
        while try handle.flush() {
            switch wait(for: Int16(POLLIN) | Int16(POLLOUT)) {
            case .ready(let events): if events & Int16(POLLIN) != 0 { try handle.consumeInput() }
            case .stopped(let error):
                // A partially written message cannot be withdrawn.
                self.handle = nil
                throw error
            }
        }
    }

    /// Reads all results and returns the last; the first error is thrown after all are read.
    func lastResult(_ handle: ConnectionHandle) throws(PostgresError) -> PostgresRows {
        var last: PostgresRows?
        var failure: PostgresError?
        while let result = try nextResult(handle) {
            let rows = PostgresRows(adopting: result)
            switch handle.outcome(of: rows) {
            case .failure(let error): failure = failure ?? error
            // COPY data has its own calls; further results follow only after the data.
            case .copy: return rows
            case .success, .skipped, .sync: break
            }
            last = consume rows
        }
        if let failure {
            guard handle.isOpen || failure.sqlState != nil else {
                throw PostgresError(.connection, failure.message)
            }
            throw failure
        }
        guard let rows = last.take() else { throw PostgresError(.misuse, "the statement returned no result") }
        return rows
    }

    /// Returns the next result; nil after the last. A deadline or cancellation while waiting cancels the statement on the
    /// server and reads until it has ended.
    func nextResult(_ handle: ConnectionHandle) throws(PostgresError) -> OpaquePointer? {
        while handle.isBusy {
            switch wait(for: Int16(POLLIN)) {
            case .ready: try handle.consumeInput()
            case .stopped(let reason): try cancelOnServer(handle.raw, because: reason)
            }
        }
        return PQgetResult(handle.raw)
    }

    /// Always throws `reason`. If the statement ended as cancelled or failed, the connection stays usable. Otherwise it is closed, because
    /// the cancel request could still hit the next statement. Returns within `cancelLimit`, whatever the server does.
    ///
    /// If statements were sent together, cancelling one ends all remaining ones.
    private func cancelOnServer(_ raw: OpaquePointer, because reason: PostgresError) throws(PostgresError) {
        let request = CancelRequests.send(for: raw)
        let limit = ContinuousClock.now + Self.cancelLimit
        /// Returns whether the request can no longer hit the next statement; it may arrive after the server's own timeout.
        func isOver() -> Bool {
            while let request, !request.hasEnded {
                if limit <= .now { return false }
                usleep(500)
            }
            return true
        }
        var wasCancelled = false
        // The socket may be always ready.
        while ContinuousClock.now < limit {
            guard PQisBusy(raw) == 0 else {
                let outcome = pollDescriptors([(PQsocket(raw), Int16(POLLIN))], until: limit)
                if outcome.timedOut || PQconsumeInput(raw) == 0 { break }
                continue
            }
            guard let result = PQgetResult(raw) else {
                guard PQpipelineStatus(raw) == PQ_PIPELINE_OFF else {
                    if PQstatus(raw) == CONNECTION_OK { continue }
                    break
                }
                if wasCancelled, isOver() { throw reason }
                break
            }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                if wasCancelled, isOver(), PQexitPipelineMode(raw) == 1 { throw reason }
                break
            }
            if status == PGRES_FATAL_ERROR { wasCancelled = PostgresError(result: result).sqlState == .queryCanceled }
            PQclear(result)
            if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH { break }
        }
        handle = nil
        throw reason
    }

    /// Waits for input from the server; an interruption during COPY closes the connection.
    func waitForInput(_ handle: ConnectionHandle) throws(PostgresError) {
        switch wait(for: Int16(POLLIN)) {
        case .ready: try handle.consumeInput()
        case .stopped(let reason):
            self.handle = nil
            throw reason
        }
    }

    enum WaitOutcome {
        case ready(Int16)
        case stopped(PostgresError)
    }

    private func wait(for events: Int16) -> WaitOutcome {
        while true {
            let outcome = pollDescriptors(
                [(socket, events), (interrupt.wakeup.descriptor, Int16(POLLIN))],
                until: deadline
            )
            if outcome.events[1] != 0 { interrupt.wakeup.drain() }
            if interrupt.isRequested(operation) { return .stopped(PostgresError(.cancelled, "the task was cancelled")) }
            // Check the deadline even if the socket is always ready.
            if outcome.timedOut || deadline.map({ $0 <= .now }) ?? false {
                return .stopped(PostgresError(.deadline, "the deadline passed"))
            }
            if outcome.events[0] != 0 { return .ready(outcome.events[0]) }
        }
    }

    func checkInterrupt() throws(PostgresError) {
        if interrupt.isRequested(operation) { throw PostgresError(.cancelled, "the task was cancelled") }
        if let deadline, deadline <= .now { throw PostgresError(.deadline, "the deadline passed") }
    }
}

/// The outcome of a wait on descriptors.
struct PollOutcome {
    var timedOut: Bool
    var events: [Int16]
}
