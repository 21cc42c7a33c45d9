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

    /// The keys in use, in declaration order.
    package var keys: [FilterKey] { FilterKey.allCases.filter { values[$0] != nil } }

    package subscript(key: FilterKey) -> FilterValue? { values[key] }

    /// Returns the filter without the given keys.
    package func without(_ keys: Set<FilterKey>) -> Filter { Filter(checked: values.filter { !keys.contains($0.key) }) }

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
        return switch (compared, value) {
        case (.texts(let own), .texts(let wanted)):
            wanted.contains { text in
                text.isEmpty ? own.isEmpty : own.contains { $0.utf8.elementsEqual(text.utf8) }
            }
        case (.flag(let own), .flag(let wanted)): own == wanted
        case (.amount(let own), .amount(let limit)): isInside(own, limit)
        case (.moment(let own), .moment(let limit)): isInside(own, limit)
        case (.dimension(let own), .dimensions(let wanted)): own.map(wanted.contains) ?? false
        // A value of another form than its key's.
        case (.texts, _), (.flag, _), (.amount, _), (.unitPrice, _), (.moment, _), (.dimension, _): false
        }
    }
}

/// The source of a response's filter.
package enum FilterSource: String, CaseIterable, Sendable, Hashable {
    case query, user
}
