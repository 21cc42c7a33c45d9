internal import CLibPQ

/// The rows of a result, in binary. They can only be read in place, not copied or stored.
package struct PostgresRows: ~Copyable {
    let raw: OpaquePointer

    init(adopting raw: OpaquePointer) { self.raw = raw }
    deinit { PQclear(raw) }

    var status: ExecStatusType { PQresultStatus(raw) }

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
