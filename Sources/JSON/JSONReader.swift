/// A strict JSON parser (RFC 8259). It rejects duplicate members, NUL characters, invalid UTF-8 and text after the value. The limits are 30
/// combining marks in a row, 32 levels and 500,000 values. Numbers keep their digits, so that prices stay exact.
///
/// - Complexity: O(n), but O(m²) in the members of one object, of which there are at most 256.
package struct JSONReader {
    package static let maximumDepth = 32
    package static let maximumMembers = 256
    package static let maximumNameLength = 256
    /// Enough for two orders of the maximum length.
    package static let maximumValues = 500_000

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var values = 0
    private let valueLimit: Int

    /// - Parameter valueLimit: the maximum number of values; the default is for request bodies.
    /// - Throws: `JSONError` with the reason and the offset.
    package static func parse(
        _ bytes: [UInt8],
        valueLimit: Int = maximumValues
    ) throws(JSONError) -> JSONValue {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError(detail: "the text is not valid UTF-8", offset: 0)
        }
        let result: Result<JSONValue, JSONError> = bytes.withUnsafeBufferPointer { buffer in
            var reader = JSONReader(bytes: buffer, valueLimit: valueLimit)
            do throws(JSONError) {
                let value = try reader.value(depth: 1)
                reader.skipSpace()
                guard reader.position == buffer.count else { throw reader.error("unexpected data after the value") }
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, valueLimit: Int) {
        self.bytes = bytes
        self.valueLimit = valueLimit
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        values += 1
        guard values <= valueLimit else { throw error("more than \(valueLimit) values") }
        guard depth <= Self.maximumDepth else { throw error("nesting exceeds \(Self.maximumDepth) levels") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (48...57).contains(byte): return .number(try number())
        case nil: throw error("unexpected end, expected a value")
        default: throw error("unexpected character, expected a value")
        }
    }

    private mutating func object(_ depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("expected a member name") }
            let name = try string()
            guard name.utf8.count <= Self.maximumNameLength else {
                throw error("member name exceeds \(Self.maximumNameLength) bytes")
            }
            guard !members.contains(where: { $0.name == name }) else { throw error("duplicate member name") }
            guard members.count < Self.maximumMembers else { throw error("more than \(Self.maximumMembers) members") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("expected a colon") }
            members.append(.init(name, try value(depth: depth + 1)))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw error("expected a comma or closing brace") }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(JSONError) -> JSONValue {
        position += 1
        var values: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat {
            values.append(try value(depth: depth + 1))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw error("expected a comma or closing bracket") }
        return .array(values)
    }

    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        var text = [UInt8](UnsafeBufferPointer(rebasing: bytes[start..<position]))
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                let string = String(decoding: text, as: UTF8.self)
                guard string.isStreamSafe else { throw error("more than 30 combining marks in a row") }
                return string
            case UInt8(ascii: "\\"): try escape(&text)
            case 0..<0x20: throw error("unescaped control character in a string")
            default: text.append(byte)
            }
        }
        throw error("unterminated string")
    }

    private mutating func escape(_ text: inout [UInt8]) throws(JSONError) {
        guard let byte = peek else { throw error("unterminated string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            var units = [unit]
            if 0xD800..<0xDC00 ~= unit {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw error("unpaired surrogate") }
                units.append(try codeUnit())
            }
            guard unit != 0 else { throw error("U+0000 is not allowed") }
            guard let scalars = String(validating: units, as: UTF16.self) else { throw error("unpaired surrogate") }
            text.append(contentsOf: scalars.utf8)
        default: throw error("unknown escape sequence")
        }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        guard position + 4 <= bytes.count,
            let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
            bytes[position] != UInt8(ascii: "+")
        else { throw error("expected four hexadecimal digits") }
        position += 4
        return unit
    }

    private mutating func number() throws(JSONError) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            try digits()
        }
        guard position - start <= JSONValue.numberLimit else {
            throw error("number exceeds \(JSONValue.numberLimit) characters")
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = position
        while let byte = peek, (48...57).contains(byte) { position += 1 }
        if position == start { throw error("expected a digit") }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let matches = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard matches else { throw error("unexpected character, expected a value") }
        position += word.utf8CodeUnitCount
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private func error(_ detail: String) -> JSONError { JSONError(detail: detail, offset: position) }
}

/// The reason for rejecting JSON.
package struct JSONError: Error, Sendable, Equatable {
    package let detail: String
    /// The byte offset of the error, from 0.
    package let offset: Int
}
