/// A restriction of a shelf to products that match every key; an empty filter matches all products.
package struct Filter: Sendable, Hashable {
    package private(set) var values: [FilterKey: FilterValue]

    /// The filter that matches all products.
    package static let none = Filter(checked: [:])

    private init(checked values: [FilterKey: FilterValue]) { self.values = values }

    /// - Throws: `malformed`, naming the parameter, for an empty range.
    package init(_ values: [FilterKey: FilterValue]) throws(CatalogError) {
        self.values = values
        for (lower, upper) in FilterKey.allCases.compactMap({ key in key.upperEnd.map { (key, $0) } }) {
            guard let start = values[lower], let end = values[upper], end.isBelow(start) else { continue }
            throw .malformed(parameter: upper.name, detail: "\(upper.name) must not be below \(lower.name)")
        }
    }

    package var isEmpty: Bool { values.isEmpty }

    /// The keys in use: the built-in ones in declaration order, then attributes by name.
    package var keys: [FilterKey] {
        let builtIn = FilterKey.allCases.filter { values[$0] != nil }
        guard builtIn.count < values.count else { return builtIn }
        return builtIn + values.keys.filter(\.isAttribute).sorted { $0.name < $1.name }
    }

    /// Whether a key is an attribute.
    package var namesAttributes: Bool { values.keys.contains(where: \.isAttribute) }

    /// The attributes that were looked up.
    package var attributes: [ResolvedAttribute] { keys.compactMap(\.attribute) }

    /// The filter without attributes.
    package var withoutAttributes: Filter { Filter(checked: values.filter { !$0.key.isAttribute }) }

    package subscript(key: FilterKey) -> FilterValue? { values[key] }

    /// Returns the filter without the given keys.
    package func without(_ keys: Set<FilterKey>) -> Filter { Filter(checked: values.filter { !keys.contains($0.key) }) }

    /// Returns the filter with only the given keys.
    package func only(_ keys: Set<FilterKey>) -> Filter { Filter(checked: values.filter { keys.contains($0.key) }) }

    /// Looks up the attributes, and reads their texts as values. Equal conditions get equal texts.
    ///
    /// - Throws: `unknownFilter` for an unknown attribute; `malformed`, naming the parameter, for a condition of another type, an invalid value, or
    ///   an empty range.
    package func resolved(in attributes: ResolvedAttributes) throws(CatalogError) -> Filter {
        guard namesAttributes else { return self }
        var resolved: [FilterKey: FilterValue] = [:]
        for (key, value) in values {
            guard case .attribute(let reference, let condition) = key else {
                resolved[key] = value
                continue
            }
            guard let attribute = attributes[reference.name] else { throw attributes.unknownFilter(key) }
            resolved[.attribute(.resolved(attribute), condition)] = .attribute(
                try AttributeCondition(value.texts, condition, attribute)
            )
        }
        for case (.attribute(let reference, .atMost), .attribute(let end)) in resolved {
            guard case .attribute(let start)? = resolved[.attribute(reference, .atLeast)], end.isBelow(start) else {
                continue
            }
            let (upper, lower) = (FilterKey.attribute(reference, .atMost), FilterKey.attribute(reference, .atLeast))
            throw .malformed(parameter: upper.name, detail: "\(upper.name) must not be below \(lower.name)")
        }
        return Filter(checked: resolved)
    }

    // MARK: - The specification

    /// Returns whether a product matches the filter.
    package func accepts(_ product: Product, in currency: Currency) -> Bool {
        values.allSatisfy { key, value in Self.matches(key, value, product, currency) }
    }

    private static func matches(
        _ key: FilterKey,
        _ value: FilterValue,
        _ product: Product,
        _ currency: Currency
    ) -> Bool {
        if case .amountPerQuantity(let limit) = value { return limit.covers(product, in: currency) }
        return matches(key, value, key.compared(of: product, in: currency))
    }

    private static func matches(_ key: FilterKey, _ value: FilterValue, _ compared: FilterKey.Compared) -> Bool {
        func isInside<T: Comparable>(_ own: T?, _ limit: T) -> Bool {
            own.map { key.form.isEnd ? $0 <= limit : $0 >= limit } ?? false
        }
        func hasText(_ text: String, _ own: [String]) -> Bool { own.contains { $0.utf8.elementsEqual(text.utf8) } }
        return switch (compared, value) {
        case (.texts(let own), .texts(let wanted)):
            wanted.contains { text in
                text.isEmpty ? own.isEmpty : hasText(text, own)
            }
        case (.flag(let own), .flag(let wanted)): own == wanted
        case (.amount(let own), .amount(let limit)): isInside(own, limit)
        case (.moment(let own), .moment(let limit)): isInside(own, limit)
        case (.dimension(let own), .dimensions(let wanted)): own.map(wanted.contains) ?? false
        case (.allTexts(let own), .texts(let wanted)): wanted.allSatisfy { hasText($0, own) }
        case (.noTexts(let own), .texts(let wanted)): !wanted.contains { hasText($0, own) }
        case (.attribute(let own), .attribute(let condition)): condition.accepts(own)
        // A value of another form than its key's.
        case (.texts, _), (.allTexts, _), (.noTexts, _), (.flag, _), (.amount, _), (.unitPrice, _), (.moment, _),
            (.dimension, _), (.attribute, _):
            false
        }
    }
}

/// The source of a response's filter.
package enum FilterSource: String, CaseIterable, Sendable, Hashable {
    case query, user
}
