package import JSON

// The text forms of a filter: in a query, in JSON and in a cursor.
extension Filter {
    /// The maximum number of values per key.
    package static let valueLimit = 100
    /// The maximum length of a filter as a query, in bytes; cursors and links contain it.
    package static let queryLimit = 4096
    /// The maximum length of a text value, in bytes.
    private static let textLimit = 500

    /// Parses query parameters.
    ///
    /// - Parameter texts: returns the values given for a key.
    /// - Returns: nil if no filter parameter is given.
    /// - Throws: `malformed`, naming the parameter.
    package init?(_ texts: (FilterKey) -> [String]) throws(CatalogError) {
        var values: [FilterKey: FilterValue] = [:]
        for key in FilterKey.allCases {
            let given = texts(key)
            guard !given.isEmpty else { continue }
            values[key] = try Self.value(of: given, for: key)
        }
        guard !values.isEmpty else { return nil }
        try self.init(values)
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
            guard halves.count == 2, let key = FilterKey(rawValue: String(halves[0])),
                let text = PercentEncoding.decode(halves[1].utf8)
            else { throw .malformed(parameter: "filter", detail: "invalid filter") }
            given[key, default: []].append(text)
        }
        self = try Filter { given[$0] ?? [] } ?? .none
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
            guard let key = FilterKey(rawValue: member.name) else {
                throw .malformed(parameter: name, detail: "unknown filter", allowed: FilterKey.allCases.map(\.name))
            }
            guard given[key] == nil else { throw .malformed(parameter: name, detail: "duplicate \(name)") }
            if member.value == .null { continue }
            given[key] = try Self.texts(member.value, key, name)
        }
        do throws(CatalogError) {
            self = try Filter { given[$0] ?? [] } ?? .none
        } catch .malformed(let parameter, let detail, let allowed, let hint) {
            throw .malformed(
                parameter: parameter.map { "\(field).\($0)" },
                detail: detail,
                allowed: allowed,
                hint: hint
            )
        }
    }

    private func isRepeated(_ key: FilterKey) -> Bool { values[key].map { $0.texts.count > 1 } ?? false }

    private static func texts(_ value: JSONValue, _ key: FilterKey, _ name: String) throws(CatalogError) -> [String] {
        func text(_ value: JSONValue) throws(CatalogError) -> String {
            switch (value, key.form) {
            case (.bool(let flag), .flag): return flag ? "true" : "false"
            case (.number(let digits), .amount): return digits
            case (.string(let text), let form) where form != .flag: return text
            default: throw .malformed(parameter: name, detail: "\(name) must be \(key.rule)")
            }
        }
        guard case .array(let values) = value, key.isRepeatable else { return [try text(value)] }
        guard !values.isEmpty else {
            throw .malformed(parameter: name, detail: "\(name) must not be empty; omit it to show all products")
        }
        var texts: [String] = []
        for value in values { texts.append(try text(value)) }
        return texts
    }

    private static func value(of given: [String], for key: FilterKey) throws(CatalogError) -> FilterValue {
        guard key.isRepeatable || given.count == 1 else {
            throw .malformed(parameter: key.name, detail: "\(key.name) must be given only once")
        }
        guard given.count <= valueLimit else {
            throw .malformed(
                parameter: key.name,
                detail: "\(key.name) has \(given.count) values; the maximum is \(valueLimit)"
            )
        }
        guard let value = key.value(of: given, textLimit: textLimit) else {
            let shown = given.first { key.value(of: [$0], textLimit: textLimit) == nil } ?? given[0]
            throw .malformed(
                parameter: key.name,
                detail: "\(key.name) must be \(key.rule) (got “\(shown.prefix(64))”)",
                allowed: key.allowed
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

    package var json: JSONValue {
        .object(
            keys.map { key in
                let value = values[key]!
                if case .flag(let flag) = value { return .init(key.name, .bool(flag)) }
                let texts = value.texts.map { JSONValue.string($0) }
                return .init(key.name, key.isRepeatable ? .array(texts) : texts[0])
            }
        )
    }
}

extension FilterKey {
    /// Parses values; nil if one of them is invalid.
    fileprivate func value(of given: [String], textLimit: Int) -> FilterValue? {
        switch form {
        case .texts:
            let texts = given.map(\.composed)
            guard texts.allSatisfy({ $0.utf8.count <= textLimit && $0.isPrintable }) else { return nil }
            let sorted = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return .texts(
                sorted.enumerated().filter { $0 == 0 || !sorted[$0 - 1].utf8.elementsEqual($1.utf8) }.map(\.element)
            )
        case .flag: return given[0] == "true" ? .flag(true) : given[0] == "false" ? .flag(false) : nil
        case .amount: return FilterValue.amount(of: given[0]).map { .amount($0) }
        case .amountPerQuantity: return AmountPerQuantity(given[0]).map { .amountPerQuantity($0) }
        case .timestamp(let isEnd):
            var moment = Timestamp(rfc3339: given[0])
            if given[0].utf8.count == 10, let start = Timestamp(rfc3339: given[0] + "T00:00:00Z") {
                let day: Int64 = 86_400_000_000
                moment = isEnd ? Timestamp(microseconds: start.microseconds + day - 1) : start
            }
            // An offset may move the time to a year outside 1 to 9999, which could not be parsed again.
            guard let moment, Timestamp(rfc3339: moment.rfc3339) == moment else { return nil }
            return .moment(moment)
        case .dimensions:
            let wanted = given.compactMap(Dimension.init)
            return wanted.count == given.count ? .dimensions(Dimension.allCases.filter(wanted.contains)) : nil
        }
    }

    /// The requirement on a value, for error messages.
    fileprivate var rule: String {
        switch form {
        case .texts: "printable text of at most 500 bytes"
        case .flag: "true or false"
        case .amount: "a decimal of 0 or more in the store's currency, such as 4.99"
        case .amountPerQuantity: "an amount per quantity, such as 1.20/100g or 12/kg"
        case .timestamp: "a time such as 2026-03-01T08:00:00Z, or a day such as 2026-03-01"
        case .dimensions: "one of the allowed values"
        }
    }

    fileprivate var allowed: [String] {
        switch form {
        case .flag: ["true", "false"]
        case .dimensions: Dimension.allCases.map(\.rawValue)
        case .texts, .amount, .amountPerQuantity, .timestamp: []
        }
    }
}

extension FilterValue {
    /// The texts of the value; parsing them returns an equal value.
    fileprivate var texts: [String] {
        switch self {
        case .texts(let texts): texts
        case .flag(let flag): [flag ? "true" : "false"]
        case .amount(let amount): [amount.description]
        case .amountPerQuantity(let limit): [limit.text]
        case .moment(let moment): [moment.rfc3339]
        case .dimensions(let dimensions): dimensions.map(\.rawValue)
        }
    }
}
