internal import CLibPQ

/// The rows of a result, in binary. They can only be read in place, not copied or stored.
package struct PostgresRows: ~Copyable {
    let raw: OpaquePointer

    init(adopting raw: OpaquePointer) { self.raw = raw }
    deinit { PQclear(raw) }

    /// The meaning of the result.
    var outcome: ConnectionHandle.Outcome {
        switch PQresultStatus(raw) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .success
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: .copy
        case PGRES_PIPELINE_SYNC: .sync
        case PGRES_PIPELINE_ABORTED: .skipped
        default: .failure(PostgresError(result: raw))
        }
    }

    /// The number of rows.
    package var count: Int { Int(PQntuples(raw)) }

    /// The number of rows affected by an INSERT, UPDATE, DELETE or COPY.
    package var affected: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }

    /// Reads every row in order.
    package func forEach(_ body: (borrowing PostgresRow) throws -> Void) rethrows {
        for index in 0..<Int32(count) { try body(PostgresRow(raw: raw, index: index)) }
    }

    /// Reads every row into an array.
    package func map<T>(_ body: (borrowing PostgresRow) throws -> T) rethrows -> [T] {
        var values: [T] = []
        values.reserveCapacity(count)
        try forEach { values.append(try body($0)) }
        return values
    }

    /// Reads the first row, if there is one.
    package func first<T>(_ body: (borrowing PostgresRow) throws -> T) rethrows -> T? {
        count == 0 ? nil : try body(PostgresRow(raw: raw, index: 0))
    }
}
