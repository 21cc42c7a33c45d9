/// JSON as it was written: numbers keep their digits, members their order.
package enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number's own text.
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
    }

    /// Whether every number in it has at most 64 digits when written out: `1e9999` is a few bytes, and ten thousand digits
    /// in the database.
    package var isWithinNumberBounds: Bool {
        switch self {
        case .null, .bool, .string: return true
        case .number(let text):
            let parts = text.lowercased().split(separator: "e")
            guard parts.count == 2 else { return true }
            guard let exponent = Int(parts[1]), exponent.magnitude <= 64 else { return false }
            // A negative exponent writes a zero and a point before the digits.
            return parts[0].utf8.count + Int(exponent.magnitude) + (exponent < 0 ? 2 : 0) <= 64
        case .array(let values): return values.allSatisfy(\.isWithinNumberBounds)
        case .object(let members): return members.allSatisfy(\.value.isWithinNumberBounds)
        }
    }

    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The value as JSON text.
    package var text: String {
        var json = JSONText()
        write(to: &json)
        return json.text
    }

    private func write(to json: inout JSONText) {
        switch self {
        case .null: json.null()
        case .bool(let value): json.raw(value ? "true" : "false")
        case .number(let digits): json.raw(digits)
        case .string(let value): json.string(value)
        case .array(let values): json.array(values) { $1.write(to: &$0) }
        case .object(let members):
            var body = ""
            for (index, member) in members.enumerated() {
                var name = JSONText()
                name.string(member.name)
                body += (index > 0 ? "," : "") + name.text + ":" + member.value.text
            }
            json.raw("{\(body)}")
        }
    }

    /// The value after a merge patch. Source: RFC 7396, section 2.
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

/// Why bytes are no JSON that is accepted.
package struct JSONError: Error, Sendable, Equatable {
    package let detail: String
    /// The byte at which it was noticed, from 0.
    package let offset: Int
}
