internal import Catalog

/// A writer that appends JSON to one buffer, without intermediate values.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(reserving capacity: Int = 1024) { bytes.reserveCapacity(capacity) }

    /// Returns the bytes of a document written by a closure.
    package static func document(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        body(&json)
        return json.bytes
    }

    /// Returns the bytes of an object whose members are written by a closure.
    package static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] { document { $0.object(body) } }

    /// Writes the field `page` of a paged response.
    package mutating func page(_ limit: Int, _ token: String?) {
        object("page") { json in
            json.field("limit", limit)
            json.field("next_cursor", token)
        }
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    package mutating func array<S: Sequence>(_ elements: S, _ body: (inout JSONWriter, S.Element) -> Void) {
        open(UInt8(ascii: "["))
        for element in elements { body(&self, element) }
        close(UInt8(ascii: "]"))
    }

    package mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    package mutating func array<S: Sequence>(
        _ name: StaticString,
        _ elements: S,
        _ body: (inout JSONWriter, S.Element) -> Void
    ) {
        key(name)
        array(elements, body)
    }

    package mutating func field(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    package mutating func field(_ name: StaticString, _ value: (some FixedWidthInteger)?) {
        key(name)
        if let value { integer(Int64(value)) } else { null() }
    }

    /// Writes a count whose name is only known at run time; plain ASCII.
    package mutating func field(name: String, _ value: Int) {
        raw("\"\(name)\":\(value)")
    }

    package mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        raw(value ? "true" : "false")
    }

    package mutating func field(_ name: StaticString, _ value: Double) {
        key(name)
        raw(value.isFinite ? "\(value)" : "null")
    }

    /// Writes a field whose value is already JSON text.
    package mutating func field(_ name: StaticString, json: String) {
        key(name)
        raw(json)
    }

    package mutating func string(_ value: String) {
        comma()
        value.appendAsJSON(to: &bytes)
    }

    /// Writes an integer directly into the buffer.
    private mutating func integer(_ value: Int64) {
        comma()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    package mutating func null() { raw("null") }

    /// Writes a value that is JSON already, without escaping.
    package mutating func raw(_ text: String) {
        comma()
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes the name of a member whose value follows.
    package mutating func key(_ name: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ byte: UInt8) {
        comma()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }
}
