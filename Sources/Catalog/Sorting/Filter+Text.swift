package import JSON

// The text forms of a filter: in a query, in JSON and in a cursor.
extension Filter {
    /// The maximum number of values per key.
    package static let valueLimit = 100
    /// The maximum number of attributes, each of which may have several conditions. Each takes time for all products of a shelf.
    package static let attributeLimit = 8
    /// The maximum length of a filter as a query, in bytes; cursors and links contain it.
    package static let queryLimit = 4096

    /// Parses query parameters.
    ///
    /// - Parameters:
    ///   - attributes: the values given for attributes, which `resolved` looks up.
    ///   - texts: returns the values given for a built-in key.
    /// - Returns: nil if no filter parameter is given.
    /// - Throws: `malformed`, naming the parameter.
    package init?(
        attributes: [FilterKey: [String]] = [:],
        _ texts: (FilterKey) -> [String]
    ) throws(CatalogError) {
        var values: [FilterKey: FilterValue] = [:]
        for key in FilterKey.allCases {
            let given = texts(key)
            guard !given.isEmpty else { continue }
            values[key] = try Self.value(of: given, for: key)
        }
        for (key, given) in attributes.sorted(by: { $0.key.name < $1.key.name }) where key.isAttribute {
            values[key] = try Self.value(of: given, for: key)
        }
        guard !values.isEmpty else { return nil }
        try self.init(values)
        try checkAttributeCount()
        guard query.utf8.count <= Self.queryLimit else {
            throw .malformed(
                parameter: keys.first { isRepeated($0) }?.name,
                detail:
                    "the filter has \(query.utf8.count) bytes as a query; the maximum is \(Self.queryLimit)"
            )
        }
    }

    /// Parses the output of `query`; an empty text is `none`.
    package init(query: String) throws(CatalogError) {
        var given: [FilterKey: [String]] = [:]
        for pair in query.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let key = FilterKey(name: halves[0]),
                let text = PercentEncoding.decode(halves[1].utf8)
            else { throw .malformed(parameter: "filter", detail: "invalid filter") }
            given[key, default: []].append(text)
        }
        self = try Filter(attributes: given) { given[$0] ?? [] } ?? .none
    }

    /// Parses a JSON object of filter keys. Texts and dimensions may be arrays; amounts are strings or numbers.
    ///
    /// - Throws: `malformed`, naming the member.
    package init(json: JSONValue, field: String = "filter") throws(CatalogError) {
        guard case .object(let members) = json else {
            throw .malformed(parameter: field, detail: "\(field) must be an object, such as {\"in_stock\":true}")
        }
        var given: [FilterKey: [String]] = [:]
        for member in members {
            let name = "\(field).\(member.name.prefix(64))"
            guard let key = FilterKey(name: member.name) else {
                throw .malformed(parameter: name, detail: "unknown filter", allowed: FilterKey.allCases.map(\.name))
            }
            guard given[key] == nil else { throw .malformed(parameter: name, detail: "duplicate \(name)") }
            if member.value == .null { continue }
            given[key] = try Self.texts(member.value, key.form, name)
        }
        do throws(CatalogError) {
            self = try Filter(attributes: given) { given[$0] ?? [] } ?? .none
        } catch { throw error.inside(field) }
    }

    private func checkAttributeCount() throws(CatalogError) {
        var names: Set<AttributeName> = []
        var excess: FilterKey?
        for case .attribute(let attribute, let condition) in keys
        where names.insert(attribute.name).inserted && names.count == Self.attributeLimit + 1 {
            excess = .attribute(attribute, condition)
        }
        guard let excess else { return }
        throw .malformed(
            parameter: excess.name,
            detail: "the filter has \(names.count) attributes; the maximum is \(Self.attributeLimit)"
        )
    }

    private func isRepeated(_ key: FilterKey) -> Bool { values[key].map { $0.texts.count > 1 } ?? false }

    private static func texts(
        _ value: JSONValue,
        _ form: FilterKey.Form,
        _ name: String
    ) throws(CatalogError) -> [String] {
        func text(_ value: JSONValue) throws(CatalogError) -> String {
            guard let text = form.text(of: value) else {
                throw .malformed(parameter: name, detail: "\(name) must be \(form.rule)")
            }
            return text
        }
        guard case .array(let values) = value, form.isRepeatable else { return [try text(value)] }
        guard !values.isEmpty else {
            throw .malformed(parameter: name, detail: "\(name) must not be empty; omit it to show all products")
        }
        var texts: [String] = []
        for value in values { texts.append(try text(value)) }
        return texts
    }

    private static func value(of given: [String], for key: FilterKey) throws(CatalogError) -> FilterValue {
        guard key.form.isRepeatable || given.count == 1 else {
            throw .malformed(parameter: key.name, detail: "\(key.name) must be given only once")
        }
        guard given.count <= valueLimit else {
            throw .malformed(
                parameter: key.name,
                detail: "\(key.name) has \(given.count) values; the maximum is \(valueLimit)"
            )
        }
        guard let value = key.form.value(of: given) else {
            let shown = given.first { key.form.value(of: [$0]) == nil } ?? given[0]
            throw .malformed(
                parameter: key.name,
                detail: "\(key.name) must be \(key.form.rule) (got “\(shown.prefix(64))”)",
                allowed: key.form.allowed
            )
        }
        return value
    }

    // MARK: - Writing

    /// The query parameters, in key order.
    package var parameters: [(name: String, value: String)] {
        keys.flatMap { key in values[key]!.texts.map { (key.name, $0) } }
    }

    /// The canonical query; equal filters have equal queries.
    package var query: String {
        isEmpty ? "" : parameters.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }

    package var json: JSONValue { .object(keys.map { .init($0.name, values[$0]!.json($0.form)) }) }
}

extension CatalogError {
    /// The error with its parameter as a member of a field.
    package func inside(_ field: String) -> CatalogError {
        switch self {
        case .malformed(let parameter, let detail, let allowed, let hint):
            return .malformed(
                parameter: parameter.map { "\(field).\($0)" },
                detail: detail,
                allowed: allowed,
                hint: hint
            )
        case .unknownSortKey(let error, let parameter):
            return .unknownSortKey(error, parameter: "\(field).\(parameter)")
        case .unknownFilter(let error):
            let whole = error.field.isEmpty ? field : "\(field).\(error.field)"
            return .unknownFilter(FilterError(error.key, field: whole, attributes: error.attributes))
        default: return self
        }
    }
}

extension ResolvedAttributes {
    /// The names of the filters by attributes.
    package var filterNames: [String] {
        all.flatMap { attribute in
            attribute.form.operators.map { FilterKey.attribute(.resolved(attribute), $0).name }
        }
    }

    /// The error of a filter by an attribute that the store does not have.
    func unknownFilter(_ key: FilterKey) -> CatalogError { .unknownFilter(FilterError(key, attributes: filterNames)) }
}

/// The error of a filter by an attribute that the store does not have.
package struct FilterError: Error, Sendable, Equatable {
    package let key: FilterKey
    /// The field that has the filter; empty for the parameters of a query.
    package let field: String
    /// The names of the store's filters by attributes.
    package let attributes: [String]

    package init(_ key: FilterKey, field: String = "", attributes: [String]) {
        (self.key, self.field, self.attributes) = (key, field, attributes)
    }

    /// The filter as a parameter, or as a member of its field.
    package var parameter: String { field.isEmpty ? key.name : "\(field).\(key.name)" }
    package var allowed: [String] { FilterKey.allCases.map(\.name) + attributes }
    /// A suggested filter.
    package var hint: String? { key.name.closest(among: allowed) }
    package var detail: String { "unknown filter “\(key.name)”" }
}
