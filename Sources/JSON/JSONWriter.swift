/// A writer that appends JSON to one buffer, without intermediate values.
package struct JSONWriter: ~Copyable {
    // Appending to an array would check its ownership for each byte.
    private var start: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    private var needsComma = false

    package init(reserving capacity: Int = 1024) {
        self.capacity = max(capacity, 64)
        start = .allocate(capacity: self.capacity)
    }

    deinit { start.deallocate() }

    /// A copy of the written bytes.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// Returns the bytes of a document written by a closure.
    package static func document(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        body(&json)
        return json.bytes
    }

    /// Returns the bytes of an object whose members are written by a closure.
    package static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] { document { $0.object(body) } }

    package var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

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

    /// Writes an array whose elements are JSON already, separated by commas.
    package mutating func array(containing elements: [UInt8]) {
        open(UInt8(ascii: "["))
        elements.withUnsafeBufferPointer { append($0) }
        close(UInt8(ascii: "]"))
    }

    package mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        key(name)
        object(body)
    }

    /// Writes an object whose name is only known at run time.
    package mutating func object(name: String, _ body: (inout JSONWriter) -> Void) {
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

    /// Writes a number whose name is only known at run time.
    package mutating func field(name: String, _ value: Double) {
        key(name)
        raw(Self.text(of: value))
    }

    /// Writes a text whose name is only known at run time.
    package mutating func field(name: String, _ value: String) {
        key(name)
        string(value)
    }

    package mutating func key(_ name: String) {
        string(name)
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        raw(value ? "true" : "false")
    }

    package mutating func field(_ name: StaticString, _ value: Double) {
        key(name)
        raw(Self.text(of: value))
    }

    /// Returns a number as JSON.
    package static func text(of value: Double) -> String { value.isFinite ? "\(value)" : "null" }

    /// Writes a field whose value is already JSON text.
    package mutating func field(_ name: StaticString, json: String) {
        key(name)
        raw(json)
    }

    package mutating func string(_ value: String) {
        comma()
        reserve(value.jsonCapacity)
        count += value.writeAsJSON(to: start + count)
    }

    private mutating func integer(_ value: Int64) {
        comma()
        reserve(20)
        if value < 0 { append(UInt8(ascii: "-")) }
        var (rest, length) = (value.magnitude, 1)
        while rest >= 10 {
            rest /= 10
            length += 1
        }
        rest = value.magnitude
        for index in stride(from: count + length - 1, through: count, by: -1) {
            start[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += length
    }

    package mutating func null() { raw("null") }

    /// Writes a value that is JSON already, without escaping.
    package mutating func raw(_ text: String) {
        comma()
        var text = text
        text.withUTF8 { append($0) }
    }

    /// Writes the name of a member whose value follows.
    package mutating func key(_ name: StaticString) {
        comma()
        reserve(name.utf8CodeUnitCount + 3)
        append(UInt8(ascii: "\""))
        name.withUTF8Buffer { append($0) }
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Leaves out a value, to be inserted later; returns its offset in bytes.
    package mutating func gap() -> Int {
        comma()
        return count
    }

    private mutating func comma() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ byte: UInt8) {
        comma()
        append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        append(byte)
        needsComma = true
    }

    private mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count)
        (start + count).update(from: base, count: bytes.count)
        count += bytes.count
    }

    /// Makes room for further bytes.
    private mutating func reserve(_ length: Int) {
        guard count + length > capacity else { return }
        let larger = max(2 * capacity, count + length)
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        copy.update(from: start, count: count)
        start.deallocate()
        (start, capacity) = (copy, larger)
    }
}
