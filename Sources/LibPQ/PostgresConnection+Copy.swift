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
            let handle = try open()
            while true {
                let sent = PQputCopyData(
                    handle.raw,
                    piece.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(piece.count)
                )
                if sent < 0 { throw try endedEarly(handle) }
                try flush(handle)
                if sent == 1 { break }
            }
        }
    }

    /// Ends COPY and returns the number of rows.
    package func endCopy() throws -> Int {
        let handle = try open()
        while true {
            let ended = PQputCopyEnd(handle.raw, nil)
            if ended < 0 { throw try endedEarly(handle) }
            try flush(handle)
            if ended == 1 { break }
        }
        return try lastResult(handle).affected
    }

    /// Aborts a COPY; the server discards its data.
    package func abortCopy() {
        guard let handle = try? open() else { return }
        _ = PQputCopyEnd(handle.raw, "aborted by the client")
        guard (try? flush(handle)) != nil else { return }
        do { _ = try lastResult(handle) } catch {}
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
        let handle = try open()
        // libpq reports the end only once, possibly while the last chunk was collected.
        guard !copyHasEnded else {
            copyHasEnded = false
            _ = try lastResult(handle)
            return nil
        }
        var collected: [UInt8] = []
        while collected.count < Self.copyChunkSize {
            var row: UnsafeMutablePointer<CChar>?
            let length = PQgetCopyData(handle.raw, &row, 1)
            if length > 0, let row {
                collected.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(length)))
                PQfreemem(row)
            } else if length == 0 {
                if !collected.isEmpty { return collected }
                try waitForInput(handle)
            } else if length == -1 {
                if !collected.isEmpty {
                    copyHasEnded = true
                    return collected
                }
                _ = try lastResult(handle)
                return nil
            } else {
                throw handle.lost()
            }
        }
        return collected
    }

    private func beginCopy(_ statement: PostgresStatement, _ expected: ExecStatusType) throws {
        let name = try open().names.name(of: statement)
        guard try run(statement.sql, named: name, { PQresultStatus($0.raw) }) == expected else {
            throw PostgresError(.misuse, "the statement is not a COPY in this direction")
        }
    }

    /// Returns the server's error when it ended a COPY early.
    private func endedEarly(_ handle: ConnectionHandle) throws -> PostgresError {
        _ = try lastResult(handle)
        return handle.lost()
    }
}
