package import Catalog

/// The declared attributes of the stores that a file may have rows for.
///
/// Those of a type that this release does not know are left out: their values are neither read nor checked.
package struct StoreAttributes: Sendable {
    private let shared: [String: AttributeDefinition]
    private let own: [CatalogKey: [String: AttributeDefinition]]
    /// The numbers of stores with declarations of their own, from 1.
    private let numbers: [CatalogKey: Int]

    /// - Parameters:
    ///   - deployment: the attributes of stores that are not among `stores`, such as new ones.
    ///   - stores: the attributes in effect in stores.
    package init(deployment: AttributeSet = .none, stores: [CatalogKey: AttributeSet] = [:]) {
        shared = Self.definitions(deployment)
        own = stores.mapValues(Self.definitions)
        numbers = Dictionary(uniqueKeysWithValues: zip(stores.keys, 1...))
    }

    /// Returns the attributes of a set that files have values of, by name.
    package static func definitions(_ set: AttributeSet) -> [String: AttributeDefinition] {
        let known = set.attributes.map(\.definition).filter { if case .unknown = $0.form { false } else { true } }
        return Dictionary(uniqueKeysWithValues: known.map { ($0.name.text, $0) })
    }

    /// Returns the attributes in effect in a store, by name.
    package func definitions(in store: CatalogKey) -> [String: AttributeDefinition] { own[store] ?? shared }

    /// Returns a number that stores with different declarations do not share.
    func number(of store: CatalogKey) -> Int { numbers[store] ?? 0 }

    /// Returns the definitions of an attribute in a store, or, for nil, in all stores; none if it is not declared.
    func definitions(of name: String, in store: CatalogKey?) -> [AttributeDefinition] {
        if let store { return [definitions(in: store)[name]].compactMap(\.self) }
        return ([shared] + own.values).compactMap { $0[name] }
    }

    /// Returns whether an attribute is computed in a store, or, for nil, in all stores that declare it.
    func isComputed(_ name: String, in store: CatalogKey?) -> Bool {
        let definitions = definitions(of: name, in: store)
        return !definitions.isEmpty && definitions.allSatisfy { if case .ratio = $0.form { true } else { false } }
    }
}

extension AttributeDefinition {
    /// Returns whether the values of files are read in the same way by two definitions. Their titles, for example, may differ.
    package static func areReadAlike(_ a: AttributeDefinition?, _ b: AttributeDefinition?) -> Bool {
        a?.untitled.form == b?.untitled.form && a?.unit == b?.unit
    }
}
