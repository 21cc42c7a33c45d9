internal import Platform
internal import Tracing

/// A writer of the parts of spans as JSON.
struct SpanJSON: ~Copyable {
    // Appending to an array would check its ownership for each part.
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0

    init(reserving capacity: Int = 1024) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// A copy of the written bytes.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    private mutating func reserve(_ additional: Int) {
        guard count + additional > capacity else { return }
        capacity = max(2 * capacity, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: start, count: count)
        start.deallocate()
        start = larger
    }

    mutating func append(_ part: UnsafeBufferPointer<UInt8>) {
        guard let first = part.baseAddress else { return }
        reserve(part.count)
        (start + count).update(from: first, count: part.count)
        count += part.count
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    mutating func raw(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func hexadecimal(_ number: UInt64) {
        reserve(16)
        Hexadecimal.write(number, to: UnsafeMutableBufferPointer(start: start + count, count: 16))
        count += 16
    }

    mutating func number(_ number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, first) = (number, digits.count)
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(UnsafeBufferPointer(rebasing: digits[first...]))
        }
    }

    mutating func string(_ text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
                return append(utf8)
            }
            for byte in utf8 { escaped(byte) }
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0..<0x20:
            raw("\\u00")
            append(UInt8(ascii: "0") + byte >> 4)
            append(byte & 0xF < 10 ? UInt8(ascii: "0") + byte & 0xF : UInt8(ascii: "a") + byte & 0xF - 10)
        default: append(byte)
        }
    }

    /// Writes a member with an array; nothing if it is empty.
    mutating func array<Element>(
        _ name: StaticString,
        _ elements: [Element],
        _ write: (inout SpanJSON, Element) -> Void
    ) {
        guard !elements.isEmpty else { return }
        raw(",\"")
        raw(name)
        raw("\":[")
        for (index, element) in elements.enumerated() {
            if index > 0 { raw(",") }
            write(&self, element)
        }
        raw("]")
    }

    /// Writes the member `attributes`; nothing without attributes.
    mutating func attributes(_ attributes: SpanAttributes, _ fields: [(name: StaticString, value: SpanAttribute)] = [])
    {
        guard !attributes.isEmpty || !fields.isEmpty else { return }
        raw(#","attributes":["#)
        var isFirst = true
        for field in fields {
            if !isFirst { raw(",") }
            isFirst = false
            raw(#"{"key":""#)
            raw(field.name)
            raw(#"","value":"#)
            value(field.value)
            raw("}")
        }
        if !attributes.isEmpty {
            attributes.forEach { name, value in
                if !isFirst { raw(",") }
                isFirst = false
                attribute(name, value)
            }
        }
        raw("]")
    }

    mutating func attribute(_ name: String, _ value: SpanAttribute) {
        raw(#"{"key":"#)
        string(name)
        raw(#","value":"#)
        self.value(value)
        raw("}")
    }

    private mutating func value(_ value: SpanAttribute) {
        switch value {
        case .int32(let number): integer(Int64(number))
        case .int64(let number): integer(number)
        case .double(let number):
            raw(#"{"doubleValue":"#)
            number.isFinite ? text("\(number)") : string(Self.name(number))
            raw("}")
        case .bool(let flag): flag ? raw(#"{"boolValue":true}"#) : raw(#"{"boolValue":false}"#)
        case .string(let text): stringValue(text)
        case .stringConvertible(let value): stringValue("\(value)")
        case .int32Array(let numbers): arrayValue(numbers.map { .int64(Int64($0)) })
        case .int64Array(let numbers): arrayValue(numbers.map { .int64($0) })
        case .doubleArray(let numbers): arrayValue(numbers.map { .double($0) })
        case .boolArray(let flags): arrayValue(flags.map { .bool($0) })
        case .stringArray(let texts): arrayValue(texts.map { .string($0) })
        case .stringConvertibleArray(let values): arrayValue(values.map { .string("\($0)") })
        default: raw("{}")
        }
    }

    private mutating func integer(_ number: Int64) {
        raw(#"{"intValue":""#)
        if number < 0 { raw("-") }
        self.number(number.magnitude)
        raw("\"}")
    }

    private mutating func stringValue(_ text: String) {
        raw(#"{"stringValue":"#)
        string(text)
        raw("}")
    }

    private mutating func arrayValue(_ values: [SpanAttribute]) {
        raw(#"{"arrayValue":{"values":["#)
        for (index, element) in values.enumerated() {
            if index > 0 { raw(",") }
            value(element)
        }
        raw("]}}")
    }

    /// Returns the name of a number that JSON has no digits for. Source: Protobuf JSON mapping.
    private static func name(_ number: Double) -> String {
        number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
    }
}
