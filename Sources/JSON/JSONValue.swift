/// A JSON value that preserves the digits of numbers and the order of members.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number's source text.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package let name: String
        package var value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// The member as JSON text without white space, such as `"a":1`.
        package var text: String {
            var bytes: [UInt8] = []
            append(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }

        fileprivate func append(to bytes: inout [UInt8]) {
            name.appendAsJSON(to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            value.append(to: &bytes)
        }
    }

    /// Returns an integer; null for nil.
    package static func integer(_ number: (some BinaryInteger)?) -> JSONValue {
        number.map { .number("\($0)") } ?? .null
    }

    /// Returns a text; null for nil.
    package static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// The maximum length of a number, in characters.
    package static let numberLimit = 64

    /// Whether every number is within the limit when written out: `1e9999` is short here, but has ten thousand digits
    /// in the database.
    package var isWithinNumberLimits: Bool {
        switch self {
        case .null, .bool, .string: return true
        case .number(let text):
            let parts = text.lowercased().split(separator: "e")
            guard parts.count == 2 else { return true }
            guard let exponent = Int(parts[1]), exponent.magnitude <= Self.numberLimit else { return false }
            // A negative exponent adds a zero and a point before the digits.
            return parts[0].utf8.count + Int(exponent.magnitude) + (exponent < 0 ? 2 : 0) <= Self.numberLimit
        case .array(let values): return values.allSatisfy(\.isWithinNumberLimits)
        case .object(let members): return members.allSatisfy(\.value.isWithinNumberLimits)
        }
    }

    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The value as JSON text without white space.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): text.appendAsJSON(to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                member.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Returns the value after a merge patch. Source: RFC 7396, section 2.
    package func merging(_ patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        var members: [Member] = if case .object(let own) = self { own } else { [] }
        for change in changes {
            let index = members.firstIndex { $0.name == change.name }
            if change.value == .null {
                if let index { members.remove(at: index) }
            } else if let index {
                members[index].value = members[index].value.merging(change.value)
            } else {
                members.append(Member(change.name, JSONValue.null.merging(change.value)))
            }
        }
        return .object(members)
    }
}
