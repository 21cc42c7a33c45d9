package import JSON
package import Catalog

/// Reads the members of a JSON object one by one and rejects unknown ones.
package struct BodyReader {
    private let members: [String: JSONValue]
    private var known: Set<String> = []

    package init(_ value: JSONValue) throws(CatalogError) {
        guard case .object(let members) = value else {
            throw .malformed(parameter: nil, detail: "the body must be a JSON object")
        }
        self.members = Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { a, _ in a })
    }

    /// Reads an object inside the body.
    ///
    /// - Parameters:
    ///   - parameter: the path of the object in the body.
    ///   - example: an object that is accepted, as JSON.
    /// - Throws: `malformed`, naming the parameter, for a value of another type.
    package init(_ value: JSONValue, parameter: String, example: String) throws(CatalogError) {
        guard case .object = value else {
            throw .malformed(parameter: parameter, detail: "\(parameter) must be an object such as \(example)")
        }
        try self.init(value)
    }

    /// Accepts and ignores members that the server generates.
    package mutating func ignore(_ names: String...) { known.formUnion(names) }

    /// Returns a member; nil if it is missing or null.
    package mutating func value(_ name: String) -> JSONValue? {
        known.insert(name)
        return members[name].flatMap { $0 == .null ? nil : $0 }
    }

    /// Returns whether a member exists, including null.
    package func has(_ name: String) -> Bool { members[name] != nil }

    /// Returns a printable string of at most that many bytes; nil if it is missing or null.
    ///
    /// - Throws: `malformed` for another type, `unprocessable` for an invalid string.
    package mutating func string(_ name: String, bytes: Int) throws(CatalogError) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else { throw typeMismatch(name, "a string") }
        guard text.utf8.count <= bytes else {
            throw .unprocessable(
                field: name,
                detail: "\(name) must have at most \(bytes) bytes (got \(text.utf8.count))"
            )
        }
        guard text.isPrintable else {
            throw .unprocessable(
                field: name,
                detail: "\(name) must not contain control characters, such as line breaks"
            )
        }
        return text
    }

    /// Returns a trimmed string in Unicode's composed form; nil if it is blank.
    ///
    /// - Parameter bytes: the maximum length in both forms. The composed form of some letters is longer.
    package mutating func nonBlankString(_ name: String, bytes: Int) throws(CatalogError) -> String? {
        guard let text = try string(name, bytes: bytes)?.trimmed.composed, !text.isEmpty else { return nil }
        guard text.utf8.count <= bytes else {
            throw .unprocessable(
                field: name,
                detail: "\(name) must have at most \(bytes) bytes in Unicode's composed form (got \(text.utf8.count))"
            )
        }
        return text
    }

    /// Returns an integer; nil if it is missing or null.
    ///
    /// - Throws: `malformed` for anything else, also for an exponent or a fraction other than zero.
    package mutating func integer(_ name: String) throws(CatalogError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard case .number(let digits) = value, let integer = Int64(integral: digits) else {
            throw typeMismatch(name, "an integer")
        }
        return integer
    }

    package mutating func double(_ name: String) throws(CatalogError) -> Double? {
        guard let value = value(name) else { return nil }
        guard case .number(let digits) = value, let number = Double(digits), number.isFinite else {
            throw typeMismatch(name, "a number")
        }
        return number
    }

    package mutating func bool(_ name: String) throws(CatalogError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value else { throw typeMismatch(name, "true or false") }
        return flag
    }

    /// Returns an exact decimal, given as a string or a number; nil if it is missing or null.
    package mutating func decimal(_ name: String) throws(CatalogError) -> ExactDecimal? {
        guard let value = value(name) else { return nil }
        switch value {
        case .string(let digits), .number(let digits):
            if let decimal = ExactDecimal(digits) { return decimal }
        default: break
        }
        throw typeMismatch(name, "a decimal number such as \"0.75\"")
    }

    package mutating func choice<C: RawRepresentable & CaseIterable>(
        _ name: String,
        _: C.Type = C.self
    ) throws(CatalogError) -> C? where C.RawValue == String {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value, let choice = C(rawValue: text) else {
            throw .malformed(
                parameter: name,
                detail: "\(name) must be one of the allowed values (got \(value.text.prefix(64)))",
                allowed: C.allCases.map(\.rawValue)
            )
        }
        return choice
    }

    /// - Parameter allowsRelevance: whether the sort may have the relevance of a search.
    package mutating func sort(_ name: String, allowsRelevance: Bool = false) throws(CatalogError) -> Sort? {
        guard let text = try string(name, bytes: 256) else { return nil }
        do { return try Sort.parse(text, allowsRelevance: allowsRelevance) } catch {
            throw .unknownSortKey(error, parameter: name)
        }
    }

    /// Returns an array of strings; nil if it is missing or null.
    ///
    /// - Throws: `malformed` for anything else.
    package mutating func strings(_ name: String) throws(CatalogError) -> [String]? {
        guard let value = value(name) else { return nil }
        guard case .array(let values) = value else { throw typeMismatch(name, "an array of strings") }
        var strings: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw typeMismatch(name, "an array of strings") }
            strings.append(text)
        }
        return strings
    }

    /// The maximum length of an id, in bytes.
    private static let idLimit = 256

    /// Returns a required list of ids.
    package mutating func ids(_ name: String) throws(CatalogError) -> [String] {
        guard let given = try strings(name) else {
            throw .malformed(parameter: name, detail: "\(name) is required and must be an array of ids")
        }
        var ids: [String] = []
        ids.reserveCapacity(given.count)
        for (index, id) in given.enumerated() {
            let composed = id.composed
            guard (1...Self.idLimit).contains(composed.utf8.count), composed.isPrintable else {
                throw .unprocessable(
                    field: name,
                    detail: "\(name)[\(index)] must be an id of 1 to \(Self.idLimit) bytes of printable text"
                )
            }
            ids.append(composed)
        }
        return ids
    }

    /// Checks that a key in the body, if present, matches the path.
    mutating func checkKey(_ name: String, _ expected: String) throws(CatalogError) {
        if let given = try string(name, bytes: 256), given != expected {
            throw .unprocessable(field: name, detail: "\(name) is “\(given)” in the body and “\(expected)” in the path")
        }
    }

    /// - Throws: `malformed`, naming an unknown property.
    package func end() throws(CatalogError) {
        if let unknown = members.keys.filter({ !known.contains($0) }).min() {
            throw .malformed(
                parameter: String(unknown.prefix(64)),
                detail: "unknown property “\(unknown.prefix(64))”",
                allowed: known.sorted()
            )
        }
    }

    private func typeMismatch(_ name: String, _ expected: String) -> CatalogError {
        .malformed(parameter: name, detail: "\(name) must be \(expected)")
    }
}
