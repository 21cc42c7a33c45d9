package import Catalog

/// The declared attributes of the stores that a file may have rows for.
///
/// Those of a type that this release does not know are left out: their values are neither read nor checked.
package struct StoreAttributes: Sendable {
    private let shared: [String: AttributeDefinition]
    private let own: [CatalogKey: [String: AttributeDefinition]]

    /// - Parameters:
    ///   - deployment: the attributes of stores that are not among `stores`, such as new ones.
    ///   - stores: the attributes in effect in stores.
    package init(deployment: AttributeSet = .none, stores: [CatalogKey: AttributeSet] = [:]) {
        shared = Self.definitions(deployment)
        own = stores.mapValues(Self.definitions)
    }

    private static func definitions(_ set: AttributeSet) -> [String: AttributeDefinition] {
        let known = set.attributes.map(\.definition).filter { if case .unknown = $0.form { false } else { true } }
        return Dictionary(uniqueKeysWithValues: known.map { ($0.name.text, $0) })
    }

    /// Returns the attributes in effect in a store, by name.
    func definitions(in store: CatalogKey) -> [String: AttributeDefinition] { own[store] ?? shared }

    /// Returns the forms of an attribute in a store, or, for nil, in all stores; none if it is not declared.
    func forms(of name: String, in store: CatalogKey?) -> [AttributeForm] {
        if let store { return [definitions(in: store)[name]?.form].compactMap(\.self) }
        return ([shared] + own.values).compactMap { $0[name]?.form }
    }

    /// Returns whether an attribute is computed in a store, or, for nil, in all stores that declare it.
    func isComputed(_ name: String, in store: CatalogKey?) -> Bool {
        let forms = forms(of: name, in: store)
        return !forms.isEmpty && forms.allSatisfy { if case .ratio = $0 { true } else { false } }
    }
}
