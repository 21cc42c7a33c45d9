package import JSON

/// An attribute in effect.
package struct EffectiveAttribute: Sendable, Hashable {
    package let definition: AttributeDefinition
    /// The revision of the declaration of the deployment; nil if the store alone declares the attribute.
    package let deploymentRevision: Int64?
    /// The revision of the declaration of the store; nil if it has none.
    package let storeRevision: Int64?

    package var name: AttributeName { definition.name }
    /// Whether the store declares the attribute, and the deployment does not.
    package var isOfStore: Bool { deploymentRevision == nil }
}

/// The attributes in effect in a store, or those of the deployment.
package struct AttributeSet: Sendable, Hashable {
    /// The attributes by name.
    package let attributes: [EffectiveAttribute]

    package static let none = AttributeSet(deployment: [])

    /// Combines declarations: an attribute of the deployment keeps its type, and has the titles of the store.
    ///
    /// A store's definition of another type is not in effect. Neither are titles without a definition. Writers reject both, but two of
    /// them at the same time can leave them behind.
    ///
    /// - Complexity: O(n log n).
    package init(deployment: [StoredAttribute], store: [StoredAttribute] = []) {
        let own = Dictionary(store.map { ($0.name, $0) }) { first, _ in first }
        var effective: [AttributeName: EffectiveAttribute] = [:]
        for shared in deployment {
            guard case .definition(var definition) = shared.declaration else { continue }
            var storeRevision: Int64?
            if let override = own[shared.name], let titles = override.declaration.titles(for: definition) {
                definition = definition.retitled(titles)
                storeRevision = override.revision
            }
            effective[shared.name] = EffectiveAttribute(
                definition: definition,
                deploymentRevision: shared.revision,
                storeRevision: storeRevision
            )
        }
        for stored in store where effective[stored.name] == nil {
            guard case .definition(let definition) = stored.declaration else { continue }
            effective[stored.name] = EffectiveAttribute(
                definition: definition,
                deploymentRevision: nil,
                storeRevision: stored.revision
            )
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
                    detail: "“\(name)” must be a declared attribute of the type number; declare it first"
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
    /// Checks the attributes of a product that is written. Values that do not change are kept, also those of another type, which were
    /// stored before the attribute was declared.
    ///
    /// - Parameters:
    ///   - text: the new attributes as an object of JSON.
    ///   - old: the stored ones; nil for a new product.
    /// - Throws: `unprocessable` for a changed value of another type than declared.
    package func check(_ text: String, replacing old: String?) throws(CatalogError) {
        guard !isEmpty, text != old, text != "{}" else { return }
        let new = try Self.parse(text)
        let stored = try old.map(Self.parse) ?? .null
        for attribute in attributes {
            let name = attribute.name.text
            guard let value = new[name], value != stored[name] else { continue }
            do { _ = try attribute.definition.value(value) } catch {
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
