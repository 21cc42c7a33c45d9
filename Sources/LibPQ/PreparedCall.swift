internal import CLibPQ

/// A statement with its parameters, ready to be sent.
struct PreparedCall {
    let statement: PostgresStatement
    /// The name of the prepared statement; nil sends the text.
    let name: String?
    let buffers: ParameterBuffers

    /// Whether the call only prepares the statement.
    var isPreparation = false

    /// Whether the call begins a transaction.
    var beginsTransaction = false

    /// Whether the call ends a transaction.
    var endsTransaction = false

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
