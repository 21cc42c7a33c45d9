internal import JSON

/// An attribute as sorts, filters and facets read it: its definition without the texts for people, and the numbers that a ratio needs.
///
/// Equal ones have equal values for all products.
package final class ResolvedAttribute: Sendable {
    package let definition: AttributeDefinition
    /// The numbers that a ratio needs.
    package let operands: [ResolvedAttribute]
    /// Identifies everything that values depend on.
    package let digest: UInt64
    /// The attribute and its operands.
    private let set: AttributeSet

    fileprivate init(_ definition: AttributeDefinition, operands: [ResolvedAttribute] = []) {
        (self.definition, self.operands) = (definition.withoutTexts, operands)
        set = AttributeSet(deployment: ([self.definition] + operands.map(\.definition)).map { .definition($0) })
        var hash = FNV64()
        hash.combine(definition.name.text)
        hash.combine(JSONValue.object(self.definition.members).text)
        for operand in operands { hash.combine(String(operand.digest)) }
        digest = hash.value
    }

    package var name: AttributeName { definition.name }
    package var form: AttributeForm { definition.form }

    /// Returns the texts of a value that searches read: a text, the key of an option, or the elements of a set.
    package func searchedTexts(of value: AttributeValue) -> [String] {
        switch value {
        case .set(let elements): elements
        case .text, .rank: [form.text(of: value)]
        case .number, .boolean, .date, .ratio: []
        }
    }

    /// Returns the texts of a product that searches read, as the product has them, with their places in a set.
    ///
    /// - Parameter members: all attributes of the product.
    fileprivate func searchedTexts(of product: Product, _ members: JSONValue) -> [(index: Int?, text: String)] {
        guard set.value(name, of: product, members) != nil else { return [] }
        switch members[name.text] {
        case .string(let text): return [(nil, text)]
        case .array(let elements):
            return elements.enumerated().compactMap { index, element in
                if case .string(let text) = element { (index, text) } else { nil }
            }
        default: return []
        }
    }

    /// Whether products can be sorted by the attribute: elements of a set have no order.
    package var isSortable: Bool { if case .set = form { false } else { true } }

    /// Returns the value that a text of JSON has; nil for another type.
    ///
    /// - Precondition: the attribute is not a ratio.
    package func value(ofJSON text: [UInt8]) -> AttributeValue? {
        guard let json = try? JSONReader.parse(text) else { return nil }
        return (try? definition.value(json)) ?? nil
    }

    /// Returns the value of a product; nil if it is missing, has another type, or cannot be computed.
    ///
    /// - Complexity: parses all attributes of the product. Shelves in memory have columns instead.
    package func value(of product: Product) -> AttributeValue? {
        guard let members = try? JSONReader.parse(Array(product.attributes.utf8)) else { return nil }
        return set.value(name, of: product, members)
    }
}

extension [ResolvedAttribute] {
    /// Returns the texts of a product that searches read, as the product has them, with their places in a set. A value has the elements of a
    /// set in the order of their texts instead.
    ///
    /// - Complexity: parses all attributes of the product once.
    package func searchedTexts(
        of product: Product
    ) -> [(attribute: ResolvedAttribute, index: Int?, text: String)] {
        guard !isEmpty, let members = try? JSONReader.parse([UInt8](product.attributes.utf8)) else { return [] }
        return flatMap { attribute in
            attribute.searchedTexts(of: product, members).map { (attribute, $0.index, $0.text) }
        }
    }
}

extension ResolvedAttribute: Hashable {
    package static func == (a: ResolvedAttribute, b: ResolvedAttribute) -> Bool {
        a === b || (a.digest == b.digest && a.definition == b.definition && a.operands == b.operands)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension AttributeDefinition {
    /// The definition without titles, units and its part in searches, which no value depends on.
    fileprivate var withoutTexts: AttributeDefinition {
        var copy = untitled
        copy.unit = nil
        copy.isSearchable = false
        if case .ratio(var ratio) = copy.form {
            ratio.per = nil
            copy.form = .ratio(ratio)
        }
        return copy
    }
}

/// The attributes in effect in a store that its shelves can be sorted, filtered and counted by.
///
/// Attributes of a later release are not among them, and neither are ratios without their numbers.
package final class ResolvedAttributes: Sendable {
    /// The attributes by name.
    package let all: [ResolvedAttribute]
    /// The attributes whose texts searches read, in the order of their names.
    package let searchable: [ResolvedAttribute]
    private let byName: [AttributeName: ResolvedAttribute]

    package static let none = ResolvedAttributes(.none)

    package init(_ set: AttributeSet) {
        var known: [AttributeName: ResolvedAttribute] = [:]
        var ratios: [(AttributeDefinition, AttributeRatio)] = []
        for definition in set.attributes.lazy.map(\.definition) {
            switch definition.form {
            case .unknown: break
            case .ratio(let ratio): ratios.append((definition, ratio))
            case .number, .enumeration, .set, .text, .boolean, .date:
                known[definition.name] = ResolvedAttribute(definition)
            }
        }
        let others = known
        for (definition, ratio) in ratios {
            let operands = ratio.attributes.compactMap { name -> ResolvedAttribute? in
                guard let operand = others[name], case .number = operand.form else { return nil }
                return operand
            }
            guard operands.count == ratio.attributes.count else { continue }
            known[definition.name] = ResolvedAttribute(definition, operands: operands)
        }
        byName = known
        all = known.values.sorted { $0.name < $1.name }
        searchable = set.attributes.filter(\.definition.isSearchable).compactMap { known[$0.name] }
    }

    package subscript(name: AttributeName) -> ResolvedAttribute? { byName[name] }
}

extension ResolvedAttributes: Hashable {
    package static func == (a: ResolvedAttributes, b: ResolvedAttributes) -> Bool {
        a === b || (a.all == b.all && a.searchable == b.searchable)
    }

    package func hash(into hasher: inout Hasher) {
        for attribute in all { hasher.combine(attribute) }
    }
}

/// The attributes in effect in a store, also as sorts and filters read them.
package struct TitledAttributes: Sendable {
    package let set: AttributeSet
    package let resolved: ResolvedAttributes

    package init(_ set: AttributeSet) {
        self.set = set
        resolved = ResolvedAttributes(set)
    }
}

/// An attribute that a sort, a filter or a facet names.
package enum AttributeReference: Hashable, Sendable {
    /// As it is written.
    case name(AttributeName)
    /// As it is in effect in a store.
    case resolved(ResolvedAttribute)

    package var name: AttributeName {
        switch self {
        case .name(let name): name
        case .resolved(let attribute): attribute.name
        }
    }

    /// The attribute in effect; nil if it has not been looked up.
    package var resolved: ResolvedAttribute? { if case .resolved(let attribute) = self { attribute } else { nil } }

    /// The beginning of a path to an attribute, which is never the name of a built-in key.
    package static let pathPrefix = "attributes."

    /// Reads the name or the path of an attribute, `rating` or `attributes.rating`.
    ///
    /// - Parameter isBuiltIn: whether a name is that of a built-in key, so that only a path names an attribute.
    init?(_ text: some StringProtocol, isBuiltIn: (String) -> Bool) {
        let name = text.hasPrefix(Self.pathPrefix) ? text.dropFirst(Self.pathPrefix.count) : text[...]
        guard let attribute = AttributeName(name), name.count != text.count || !isBuiltIn(attribute.text) else {
            return nil
        }
        self = .name(attribute)
    }

    /// Returns the name of a key: a path if the name alone is that of a built-in key.
    func path(_ name: String, isBuiltIn: Bool) -> String { isBuiltIn ? Self.pathPrefix + name : name }
}
