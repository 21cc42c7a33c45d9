internal import CLibPQ

/// A statement with its parameters, ready to be sent.
struct PreparedCall {
    enum Role: Equatable {
        /// The call only prepares the statement.
        case preparation
        /// The call begins a transaction.
        case begin
        /// The call ends a transaction.
        case end
        /// A caller reads the rows; the number is that of the query in its batch.
        case query(Int)
        case other
    }

    let statement: PostgresStatement
    let buffers: ParameterBuffers
    private(set) var role: Role
    /// The name of the prepared statement; nil sends the text.
    var name: String?

    init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = [], _ role: Role = .other) {
        self.statement = statement
        self.role = role
        buffers = ParameterBuffers(parameters)
    }

    /// The call that prepares the statement of this call, which has a name.
    var preparation: PreparedCall {
        var copy = self
        copy.role = .preparation
        return copy
    }

    func send(_ raw: OpaquePointer) -> Int32 {
        guard role != .preparation else {
            return PQsendPrepare(raw, name, statement.sql, Int32(buffers.oids.count), buffers.oids)
        }
        return buffers.withPointers { count, values, lengths, formats in
            if let name { return PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) }
            return PQsendQueryParams(raw, statement.sql, count, buffers.oids, values, lengths, formats, 1)
        }
    }
}
