package import JSON

/// The attributes that a write of a product changes.
package struct ChangedAttributes: Sendable {
    private let values: [(name: AttributeName, value: JSONValue)]

    /// Compares the attributes of a product. Numbers that are the same in another spelling do not change, and neither do objects whose
    /// members are in another order: clients and the database may write both differently than they have read them.
    ///
    /// - Parameters:
    ///   - text: the new attributes as an object of JSON.
    ///   - old: the stored ones; nil for a new product.
    /// - Throws: `fault` for a text that is not JSON.
    package init(_ text: String, replacing old: String?) throws(CatalogError) {
        guard text != old, text != "{}", case .object(let members) = try Self.parse(text) else {
            values = []
            return
        }
        let stored = try old.map(Self.parse) ?? .null
        values = members.compactMap { member in
            guard member.value != .null, let name = AttributeName(member.name),
                stored[member.name]?.isEquivalent(to: member.value) != true
            else { return nil }
            return (name, member.value)
        }
    }

    /// The names of the attributes, whether declared or not.
    package var names: [AttributeName] { values.map(\.name) }

    /// Checks the new values. Values that do not change are kept, also those of another type, which were stored before the attribute was
    /// declared.
    ///
    /// - Parameter set: the attributes in effect, at least those of `names`.
    /// - Throws: `unprocessable` for a value of another type than declared.
    package func check(against set: AttributeSet) throws(CatalogError) {
        let definitions = Dictionary(uniqueKeysWithValues: set.attributes.map { ($0.name, $0.definition) })
        for (name, value) in values {
            guard let definition = definitions[name] else { continue }
            do { _ = try definition.value(value) } catch {
                throw .unprocessable(
                    field: "attributes.\(name)",
                    detail: "attributes.\(name) must be \(error.expected) (got \(Self.excerpt(value)))"
                )
            }
        }
    }

    private static func excerpt(_ value: JSONValue) -> String {
        let text = value.text
        return text.count > 64 ? text.prefix(64) + "…" : text
    }

    private static func parse(_ text: String) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(Array(text.utf8)) } catch {
            throw .fault("the attributes of a product are not JSON: \(error.detail)")
        }
    }
}

extension JSONValue {
    /// Returns whether a value is the same, with numbers compared by value, and objects without the order of their members.
    ///
    /// - Complexity: O(n) for values of n members.
    package func isEquivalent(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.number(let a), .number(let b)): return a == b || NumberParts(a) == NumberParts(b)
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy { $0.isEquivalent(to: $1) }
        case (.object(let a), .object(let b)):
            let values = Dictionary(b.map { ($0.name, $0.value) }) { first, _ in first }
            return a.count == b.count && a.allSatisfy { values[$0.name]?.isEquivalent(to: $0.value) == true }
        default: return self == other
        }
    }
}

/// A number of JSON without the freedom of its spelling: its digits without zeros at either end, and the exponent of the last one.
private struct NumberParts: Equatable {
    let isNegative: Bool
    let digits: String
    let exponent: Int

    /// Parses a number; its text is valid. An exponent beyond 64 bits counts as that of a text.
    init(_ text: String) {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let mantissa = parts[0].split(separator: ".", maxSplits: 1)
        let fraction = mantissa.count == 2 ? mantissa[1] : ""
        guard let power = parts.count == 2 ? Int(parts[1]) : 0, power.magnitude < UInt(Int32.max) else {
            (isNegative, digits, exponent) = (false, text, 0)
            return
        }
        let all = (mantissa[0] + fraction).drop { $0 == "-" || $0 == "0" }
        let significant = all.reversed().drop { $0 == "0" }.reversed()
        isNegative = text.hasPrefix("-") && !significant.isEmpty
        digits = String(significant)
        exponent = significant.isEmpty ? 0 : power - fraction.count + all.count - significant.count
    }
}
