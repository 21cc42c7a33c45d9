package import JSON

/// An attribute in effect.
package struct EffectiveAttribute: Sendable, Hashable {
    package let definition: AttributeDefinition
    /// Whether the store declares the attribute, and the deployment does not.
    package let isOfStore: Bool

    package var name: AttributeName { definition.name }
}

/// The attributes in effect in a store, or those of the deployment.
package struct AttributeSet: Sendable, Hashable {
    /// The attributes by name.
    package let attributes: [EffectiveAttribute]

    package static let none = AttributeSet(deployment: [])

    /// Combines declarations: an attribute of the deployment keeps its type, and has the titles of the store.
    ///
    /// A store's definition of another type is not in effect. Neither are titles without a definition. Writers reject both, but a restored
    /// backup or a server of another release may have left them.
    ///
    /// - Complexity: O(n log n).
    package init(deployment: [AttributeDeclaration], store: [AttributeDeclaration] = []) {
        let own = Dictionary(store.map { ($0.name, $0) }) { first, _ in first }
        var effective: [AttributeName: EffectiveAttribute] = [:]
        for case .definition(let shared) in deployment {
            let titles = own[shared.name]?.titles(for: shared)
            let definition = titles.map { shared.retitled($0) } ?? shared
            effective[shared.name] = EffectiveAttribute(definition: definition, isOfStore: false)
        }
        for case .definition(let definition) in store where effective[definition.name] == nil {
            effective[definition.name] = EffectiveAttribute(definition: definition, isOfStore: true)
        }
        attributes = effective.values.sorted { $0.name < $1.name }
    }

    package subscript(name: AttributeName) -> EffectiveAttribute? { attributes.first { $0.name == name } }

    package var isEmpty: Bool { attributes.isEmpty }

    /// The ratios that need an attribute.
    package func ratios(of name: AttributeName) -> [AttributeName] {
        attributes.compactMap { attribute in
            guard case .ratio(let ratio) = attribute.definition.form, ratio.attributes.contains(name) else {
                return nil
            }
            return attribute.name
        }
    }

    /// Checks that the attributes of a ratio are numbers.
    ///
    /// - Throws: `unprocessable`.
    package func checkOperands(of definition: AttributeDefinition) throws(CatalogError) {
        guard case .ratio(let ratio) = definition.form else { return }
        for name in ratio.attributes {
            guard case .number? = self[name]?.definition.form else {
                throw .unprocessable(
                    field: ratio.numerator == .number(name) ? "numerator" : "denominator",
                    detail: "the ratio uses “\(name)” as an operand, which must be a number; declare it as one first"
                )
            }
        }
    }
}

extension AttributeDeclaration {
    /// Returns the titles that the declaration of a store gives to an attribute of the deployment; nil if it has another type.
    package func titles(for definition: AttributeDefinition) -> AttributeRetitling? {
        switch self {
        case .titles(_, let titles): titles
        case .definition(let own): own.untitled == definition.untitled ? own.titles : nil
        }
    }
}

// MARK: - Values

extension AttributeSet {
    /// Returns the value of an attribute; nil if it is missing, has another type, or cannot be computed.
    ///
    /// - Parameter members: the attributes of the product, parsed.
    package func value(_ name: AttributeName, of product: Product, _ members: JSONValue) -> AttributeValue? {
        guard let definition = self[name]?.definition else { return nil }
        guard case .ratio(let ratio) = definition.form else {
            return members[name.text].flatMap { try? definition.value($0) }
        }
        guard let numerator = digits(of: ratio.numerator, product, members) else { return nil }
        var denominator: Int128 = 1
        for operand in ratio.denominators {
            guard let digits = digits(of: operand, product, members) else { return nil }
            // Two numbers, or a number and a quantity: below 10³⁸, so there is no overflow.
            denominator *= digits
        }
        return AttributeFraction(numerator, over: denominator).map { .ratio($0) }
    }

    /// Returns an operand in its smallest unit: minor units, the last decimal of a number, or 10⁻¹⁴ base units.
    private func digits(of operand: AttributeRatio.Operand, _ product: Product, _ members: JSONValue) -> Int128? {
        switch operand {
        case .price: return product.priceMinor.map { Int128($0) }
        case .quantity: return product.size.map { Int128(BaseQuantity($0).digits) }
        case .number(let name):
            guard case .number(let digits)? = value(name, of: product, members) else { return nil }
            return Int128(digits)
        }
    }
}
