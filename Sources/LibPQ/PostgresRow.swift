internal import CLibPQ

/// One row of a result, read by column index. Each getter checks the column's width and throws kind `decoding`.
package struct PostgresRow: ~Copyable {
    let raw: OpaquePointer
    let index: Int32

    package func isNull(_ column: Int) -> Bool { PQgetisnull(raw, index, Int32(column)) == 1 }

    /// Returns the bytes of a column, valid as long as the row; nil for NULL.
    package func bytes(_ column: Int) -> UnsafeRawBufferPointer? {
        guard !isNull(column) else { return nil }
        let length = Int(PQgetlength(raw, index, Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(raw, index, Int32(column)), count: length)
    }

    /// Returns the bytes of a column without NULL, valid as long as the row.
    package func presentBytes(_ column: Int) throws -> UnsafeRawBufferPointer { try present(column, bytes(column)) }

    package func bool(_ column: Int) throws -> Bool { try integer(column, UInt8.self) != 0 }
    package func int2(_ column: Int) throws -> Int16 { try integer(column) }
    package func int4(_ column: Int) throws -> Int32 { try integer(column) }
    package func int8(_ column: Int) throws -> Int64 { try integer(column) }
    /// Reads a bigint.
    package func int(_ column: Int) throws -> Int { Int(try integer(column, Int64.self)) }
    package func float8(_ column: Int) throws -> Double { Double(bitPattern: try integer(column)) }
    package func text(_ column: Int) throws -> String {
        String(decoding: try presentBytes(column), as: UTF8.self)
    }
    package func bytea(_ column: Int) throws -> [UInt8] { Array(try presentBytes(column)) }

    /// Microseconds since 1970-01-01T00:00:00Z.
    package func timestamptz(_ column: Int) throws -> Int64 {
        let (microseconds, overflow) = try integer(column, Int64.self)
            .addingReportingOverflow(PostgresValue.epochMicroseconds)
        // `infinity`, or a date beyond the year 294246.
        guard !overflow else { throw mismatch(column) }
        return microseconds
    }

    package func int2OrNil(_ column: Int) throws -> Int16? { isNull(column) ? nil : try int2(column) }
    package func int4OrNil(_ column: Int) throws -> Int32? { isNull(column) ? nil : try int4(column) }
    package func int8OrNil(_ column: Int) throws -> Int64? { isNull(column) ? nil : try int8(column) }
    package func textOrNil(_ column: Int) throws -> String? { isNull(column) ? nil : try text(column) }
    package func byteaOrNil(_ column: Int) throws -> [UInt8]? { isNull(column) ? nil : try bytea(column) }

    /// The elements of a one-dimensional `text[]` without NULLs.
    package func textArray(_ column: Int) throws -> [String] {
        let buffer = try present(column, bytes(column))
        func word(_ offset: Int) throws -> Int {
            guard offset + 4 <= buffer.count else { throw mismatch(column) }
            return Int(Int32(bigEndian: buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
        }
        guard try word(0) > 0 else { return [] }
        guard try word(0) == 1 else { throw mismatch(column) }
        let count = try word(12)
        guard count >= 0 else { throw mismatch(column) }
        var offset = 20
        var values: [String] = []
        for _ in 0..<count {
            let length = try word(offset)
            guard length >= 0, offset + 4 + length <= buffer.count else { throw mismatch(column) }
            values.append(String(decoding: buffer[(offset + 4)..<(offset + 4 + length)], as: UTF8.self))
            offset += 4 + length
        }
        return values
    }

    private func integer<T: FixedWidthInteger>(_ column: Int, _: T.Type = T.self) throws -> T {
        let bytes = try present(column, bytes(column))
        guard bytes.count == MemoryLayout<T>.size else { throw mismatch(column) }
        return T(bigEndian: bytes.loadUnaligned(as: T.self))
    }

    private func present<T>(_ column: Int, _ value: T?) throws -> T {
        guard let value else { throw PostgresError(.decoding, "column \(column) is NULL") }
        return value
    }

    private func mismatch(_ column: Int) -> PostgresError {
        PostgresError(.decoding, "column \(column) does not have the expected type")
    }
}
