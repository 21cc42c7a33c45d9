/// A typed statement parameter. It is sent in binary, except for `numeric`, which is sent as exact text.
package enum PostgresValue: Sendable, Hashable {
    case bool(Bool?)
    case int2(Int16?)
    case int4(Int32?)
    case int8(Int64?)
    case float8(Double?)
    case text(String?)
    case bytea([UInt8]?)
    /// Decimal digits, as in PostgreSQL's text format.
    case numeric(String?)
    /// JSON text.
    case jsonb(String?)
    /// Microseconds since 1970-01-01T00:00:00Z.
    case timestamptz(Int64?)
    /// Days since 1970-01-01.
    case date(Int32?)
    case textArray([String])
    case int8Array([Int64?])
    case boolArray([Bool])
    case byteaArray([[UInt8]?])

    /// PostgreSQL's OID of the type.
    var oid: UInt32 {
        switch self {
        case .bool: 16
        case .bytea: 17
        case .int8: 20
        case .int2: 21
        case .int4: 23
        case .text: 25
        case .float8: 701
        case .boolArray: 1000
        case .int8Array: 1016
        case .textArray: 1009
        case .byteaArray: 1001
        case .timestamptz: 1184
        case .date: 1082
        case .numeric: 1700
        case .jsonb: 3802
        }
    }

    var isBinary: Bool { if case .numeric = self { false } else { true } }

    /// Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
    static let epochMicroseconds: Int64 = 946_684_800_000_000
    static let epochDays = Int32(epochMicroseconds / 86_400_000_000)

    /// Appends the wire format; false for NULL.
    func encode(into bytes: inout [UInt8]) -> Bool {
        switch self {
        case .bool(let value): value.map { bytes.append($0 ? 1 : 0) } != nil
        case .int2(let value): value.map { bytes.append(bigEndian: $0) } != nil
        case .int4(let value): value.map { bytes.append(bigEndian: $0) } != nil
        case .int8(let value): value.map { bytes.append(bigEndian: $0) } != nil
        case .float8(let value): value.map { bytes.append(bigEndian: $0.bitPattern) } != nil
        case .text(let value): value.map { bytes.append(contentsOf: $0.utf8) } != nil
        case .bytea(let value): value.map { bytes.append(contentsOf: $0) } != nil
        // Text parameters are C strings.
        case .numeric(let value):
            value.map {
                bytes.append(contentsOf: $0.utf8)
                bytes.append(0)
            } != nil
        case .jsonb(let value):
            value.map {
                bytes.append(1)
                bytes.append(contentsOf: $0.utf8)
            } != nil
        case .timestamptz(let value):
            value.map { bytes.append(bigEndian: $0.saturatingSubtract(Self.epochMicroseconds)) } != nil
        case .date(let value): value.map { bytes.append(bigEndian: $0.saturatingSubtract(Self.epochDays)) } != nil
        case .textArray(let values):
            encodeArray(values, of: 25, into: &bytes) {
                $1.append(contentsOf: $0.utf8)
                return true
            }
        case .boolArray(let values):
            encodeArray(values, of: 16, into: &bytes) {
                $1.append($0 ? 1 : 0)
                return true
            }
        case .int8Array(let values):
            encodeArray(values, of: 20, hasNulls: values.contains(nil), into: &bytes) { value, bytes in
                value.map { bytes.append(bigEndian: $0) } != nil
            }
        case .byteaArray(let values):
            encodeArray(values, of: 17, hasNulls: values.contains(nil), into: &bytes) { value, bytes in
                value.map { bytes.append(contentsOf: $0) } != nil
            }
        }
    }

    /// One dimension: number of dimensions, whether there are NULLs, element type, length, lower bound, then the elements.
    ///
    /// - Parameter append: appends an element; false for NULL.
    private func encodeArray<Element>(
        _ values: [Element],
        of elementOID: Int32,
        hasNulls: Bool = false,
        into bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Bool
    ) -> Bool {
        bytes.append(bigEndian: Int32(values.isEmpty ? 0 : 1))
        bytes.append(bigEndian: Int32(hasNulls ? 1 : 0))
        bytes.append(bigEndian: elementOID)
        guard !values.isEmpty else { return true }
        bytes.append(bigEndian: Int32(clamping: values.count))
        bytes.append(bigEndian: Int32(1))
        for value in values {
            let start = bytes.count
            // A length of -1 means NULL.
            bytes.append(bigEndian: Int32(-1))
            guard append(value, &bytes) else { continue }
            withUnsafeBytes(of: Int32(clamping: bytes.count - start - 4).bigEndian) {
                bytes.replaceSubrange(start..<start + 4, with: $0)
            }
        }
        return true
    }
}

extension FixedWidthInteger {
    /// Returns the difference, saturated to the limits, which mean PostgreSQL's `infinity`.
    func saturatingSubtract(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}

extension [UInt8] {
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
