internal import CLibPQ

extension PostgresConnection {
    /// The chunk size of COPY data, in bytes.
    package static let copyChunkSize = 64 << 10

    /// Starts `COPY … FROM STDIN`; follow with any number of `sendCopy` calls and `endCopy`.
    package func beginCopyIn(_ statement: PostgresStatement) throws { try beginCopy(statement, PGRES_COPY_IN) }

    /// Sends a chunk of COPY data; waits if the server does not keep up.
    package func sendCopy(_ data: UnsafeRawBufferPointer) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.copyChunkSize))
            rest = rest.dropFirst(piece.count)
            let raw = try open()
            while true {
                let sent = PQputCopyData(
                    raw,
                    piece.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(piece.count)
                )
                if sent < 0 { throw try endedEarly(raw) }
                try flush(raw)
                if sent == 1 { break }
            }
        }
    }

    /// Ends COPY and returns the number of rows.
    package func endCopy() throws -> Int {
        let raw = try open()
        while true {
            let ended = PQputCopyEnd(raw, nil)
            if ended < 0 { throw try endedEarly(raw) }
            try flush(raw)
            if ended == 1 { break }
        }
        return try lastResult(raw).affected
    }

    /// Aborts a COPY; the server discards its data.
    package func abortCopy() {
        guard let raw = try? open() else { return }
        _ = PQputCopyEnd(raw, "aborted by the client")
        guard (try? flush(raw)) != nil else { return }
        do { _ = try lastResult(raw) } catch {}
    }

    /// Copies the chunks that the closure returns, until it returns an empty one.
    package func copyIn(_ statement: PostgresStatement, _ produce: () throws -> [UInt8]) throws -> Int {
        try beginCopyIn(statement)
        do {
            while true {
                let piece = try produce()
                if piece.isEmpty { return try endCopy() }
                try piece.withUnsafeBytes { try sendCopy($0) }
            }
        } catch {
            abortCopy()
            throw error
        }
    }

    /// Starts `COPY … TO STDOUT`; follow with `nextCopy` until it returns nil.
    package func beginCopyOut(_ statement: PostgresStatement) throws {
        copyHasEnded = false
        try beginCopy(statement, PGRES_COPY_OUT)
    }

    /// Returns at least one row of COPY data, collected to about a chunk; nil at the end.
    package func nextCopy() throws -> [UInt8]? {
        let raw = try open()
        // libpq reports the end only once, possibly while the last chunk was collected.
        guard !copyHasEnded else {
            copyHasEnded = false
            _ = try lastResult(raw)
            return nil
        }
        var collected: [UInt8] = []
        while collected.count < Self.copyChunkSize {
            var row: UnsafeMutablePointer<CChar>?
            let length = PQgetCopyData(raw, &row, 1)
            if length > 0, let row {
                collected.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(length)))
                PQfreemem(row)
            } else if length == 0 {
                if !collected.isEmpty { return collected }
                try waitForInput(raw)
            } else if length == -1 {
                if !collected.isEmpty {
                    copyHasEnded = true
                    return collected
                }
                _ = try lastResult(raw)
                return nil
            } else {
                throw PostgresError.lost(raw)
            }
        }
        return collected
    }

    private func beginCopy(_ statement: PostgresStatement, _ expected: ExecStatusType) throws {
        try flushDeferred()
        let raw = try open()
        let result = try measure(statement) {
            try send { PQsendQuery(raw, statement.sql) }
            return try lastResult(raw).status
        }
        guard result == expected else {
            throw PostgresError(.misuse, "the statement is not a COPY in this direction")
        }
    }

    /// Returns the server's error when it ended a COPY early.
    private func endedEarly(_ raw: OpaquePointer) throws -> PostgresError {
        _ = try lastResult(raw)
        return .lost(raw)
    }
}
