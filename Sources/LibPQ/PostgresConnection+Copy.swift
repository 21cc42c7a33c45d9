internal import CLibPQ

extension PostgresConnection {
    /// The piece in which COPY data travels.
    package static let copyPieceSize = 64 << 10

    /// Starts `COPY … FROM STDIN`. Then `sendCopy` any number of times, then `endCopy`.
    package func beginCopyIn(_ statement: PostgresStatement) throws { try beginCopy(statement, PGRES_COPY_IN) }

    /// Sends a piece of COPY data; waits where the server does not keep up.
    package func sendCopy(_ data: UnsafeRawBufferPointer) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.copyPieceSize))
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

    /// Gives a COPY up: the server takes back what came.
    package func abortCopy() {
        guard let raw = try? open() else { return }
        _ = PQputCopyEnd(raw, "given up by the client")
        guard (try? flush(raw)) != nil else { return }
        do { _ = try lastResult(raw) } catch {}
    }

    /// Copies the blocks of bytes that the closure makes until it makes an empty one.
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

    /// Starts `COPY … TO STDOUT`; then `nextCopy` until nil.
    package func beginCopyOut(_ statement: PostgresStatement) throws {
        copyHasEnded = false
        try beginCopy(statement, PGRES_COPY_OUT)
    }

    /// At least one row of COPY data, gathered to about a piece; nil at the end.
    package func nextCopy() throws -> [UInt8]? {
        let raw = try open()
        // libpq tells the end once; it may have been while the last piece was gathered.
        guard !copyHasEnded else {
            copyHasEnded = false
            _ = try lastResult(raw)
            return nil
        }
        var gathered: [UInt8] = []
        while gathered.count < Self.copyPieceSize {
            var row: UnsafeMutablePointer<CChar>?
            let length = PQgetCopyData(raw, &row, 1)
            if length > 0, let row {
                gathered.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(length)))
                PQfreemem(row)
            } else if length == 0 {
                if !gathered.isEmpty { return gathered }
                try waitForInput(raw)
            } else if length == -1 {
                if !gathered.isEmpty {
                    copyHasEnded = true
                    return gathered
                }
                _ = try lastResult(raw)
                return nil
            } else {
                throw PostgresError.lost(raw)
            }
        }
        return gathered
    }

    private func beginCopy(_ statement: PostgresStatement, _ expected: ExecStatusType) throws {
        try runLater()
        let raw = try open()
        try send { PQsendQuery(raw, statement.sql) }
        let answer = try lastResult(raw)
        guard answer.status == expected else { throw PostgresError(.misuse, "not a COPY in this direction") }
    }

    /// What the server said when it ended a COPY before its end.
    private func endedEarly(_ raw: OpaquePointer) throws -> PostgresError {
        _ = try lastResult(raw)
        return .lost(raw)
    }
}
