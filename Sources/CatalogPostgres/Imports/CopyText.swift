internal import Catalog
internal import LibPQ

/// A writer for rows in COPY's text format.
///
/// Source: PostgreSQL documentation, "COPY", "Text Format".
struct CopyText {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    init(reserving capacity: Int = 80 << 10) { bytes.reserveCapacity(capacity) }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func endRow() {
        bytes.append(0x0A)
        isFirst = true
    }

    mutating func null() { raw("\\N") }

    mutating func field(_ text: String?) {
        guard let text else { return null() }
        separate()
        var copy = text
        copy.withUTF8 { utf8 in
            var start = 0
            for (index, byte) in utf8.enumerated() {
                guard let letter = Self.escape(byte) else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                bytes.append(0x5C)
                bytes.append(letter)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
    }

    /// Returns what follows the backslash in place of a byte; nil for a byte that is written as it is.
    private static func escape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x5C: 0x5C
        case 0x0A: 0x6E
        case 0x0D: 0x72
        case 0x09: 0x74
        default: nil
        }
    }

    mutating func field(_ value: (some FixedWidthInteger)?) {
        if let value { raw(String(value)) } else { null() }
    }

    mutating func field(_ value: ExactDecimal?) {
        if let value { raw(value.description) } else { null() }
    }

    mutating func field(_ value: Double) { raw(value == -.infinity ? "-Infinity" : "\(value)") }

    mutating func field(_ value: Bool?) {
        if let value { raw(value ? "t" : "f") } else { null() }
    }

    mutating func field(bytes value: [UInt8]) {
        separate()
        bytes.append(contentsOf: [0x5C, 0x5C, 0x78])
        for byte in value {
            bytes.append(Self.hexDigit(byte >> 4))
            bytes.append(Self.hexDigit(byte & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 48 : 87) }

    /// Writes a `text[]` field; quotes and backslashes are escaped for the array and again for COPY.
    mutating func field(_ values: [String]) {
        if values.isEmpty { return raw("{}") }
        let quoted = values.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
        field("{" + quoted.joined(separator: ",") + "}")
    }

    /// Writes a product column's value.
    mutating func field(_ value: PostgresValue) {
        switch value {
        case .bool(let value): field(value)
        case .int2(let value): field(value)
        case .int4(let value): field(value)
        case .int8(let value): field(value)
        case .float8(let value): if let value { field(value) } else { null() }
        case .text(let text), .jsonb(let text): field(text)
        case .bytea(let value): if let value { field(bytes: value) } else { null() }
        case .numeric(let digits): if let digits { raw(digits) } else { null() }
        case .timestamptz(let value): if let value { raw(Timestamp(microseconds: value).rfc3339) } else { null() }
        case .textArray(let values): field(values)
        case .date, .boolArray, .int8Array, .byteaArray:
            preconditionFailure("no column that COPY writes has this type")
        }
    }

    mutating func raw(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func separate() {
        if isFirst { isFirst = false } else { bytes.append(0x09) }
    }
}
