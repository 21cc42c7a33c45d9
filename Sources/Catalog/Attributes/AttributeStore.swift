/// The declarations of attributes.
package protocol AttributeStore: Sendable {
    /// Returns the attributes of the deployment, or those in effect in a store.
    ///
    /// - Throws: `notFound` for the store.
    func attributes(of owner: AttributeOwner) async throws(CatalogError) -> AttributeSet
    /// Creates or replaces a declaration of an owner, as `AttributeChange` decides.
    ///
    /// Products keep their values. Those that do not have the declared type count as missing.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `notFound` for the store, and what `AttributeChange` throws.
    func declare(_ declaration: AttributeDeclaration, for owner: AttributeOwner) async throws(CatalogError) -> Bool
    /// Deletes a declaration of an owner. Products keep their values. With an attribute of the deployment, the titles of stores are deleted.
    ///
    /// - Throws: `notFound` for the store or the declaration, `conflict` if a ratio needs the attribute.
    func remove(attribute: AttributeName, of owner: AttributeOwner) async throws(CatalogError)
    /// Returns the number of products whose value does not have the type of an attribute in effect.
    ///
    /// - Throws: `notFound` for the store or the attribute.
    /// - Complexity: O(products of the owner).
    func unreadableValues(of attribute: AttributeName, in owner: AttributeOwner) async throws(CatalogError) -> Int
}

extension CatalogError {
    package static func unknownAttribute(_ name: AttributeName, of owner: AttributeOwner) -> CatalogError {
        switch owner {
        case .deployment: .notFound("attribute “\(name)” of the deployment")
        case .store(let store): .notFound("attribute “\(name)” of store “\(store)”")
        }
    }
}

/// The decision about a change of declarations, by the current ones. The implementations of `AttributeStore` share it.
package struct AttributeChange: Sendable {
    /// The declarations of the deployment.
    package var deployment: [StoredAttribute]
    /// The declarations of stores: of the one that is changed, or, for a change of the deployment, of all stores.
    package var stores: [CatalogKey: [StoredAttribute]]

    package init(deployment: [StoredAttribute], stores: [CatalogKey: [StoredAttribute]]) {
        (self.deployment, self.stores) = (deployment, stores)
    }

    /// Returns the declaration to store, and the one that it replaces.
    ///
    /// - Throws: `unprocessable` for an invalid name, or operands of a ratio that are not numbers; `conflict` for another type than the
    ///   deployment or a store declares, for too many attributes, and for a number that a ratio needs.
    package func declaring(
        _ declaration: AttributeDeclaration,
        for owner: AttributeOwner
    ) throws(CatalogError) -> (new: AttributeDeclaration, old: AttributeDeclaration?) {
        let name = declaration.name
        guard case .store(let store) = owner else { return try declaringForAll(declaration) }
        let own = stores[store] ?? []
        let old = own.first { $0.name == name }?.declaration
        if let shared = Self.definition(name, in: deployment) {
            guard let titles = declaration.titles(for: shared) else {
                throw .conflict(
                    """
                    the deployment declares “\(name)” as \(shared.form.type.rawValue) with other parameters; leave out all \
                    properties but title and values, or choose another name
                    """
                )
            }
            try shared.checkOptions(of: titles)
            return (.titles(name, titles.removing(shared.titles)), old)
        }
        guard case .definition(let definition) = declaration else {
            throw .unprocessable(field: "type", detail: "type is required: the deployment does not declare “\(name)”")
        }
        if old == nil { try name.checkAvailable() }
        let others = own.filter { $0.name != name }
        try Self.checkCount(deployment, others, adding: name, in: store)
        let set = AttributeSet(deployment: deployment, store: others)
        try set.checkOperands(of: definition)
        try Self.checkRatios(set, of: definition)
        return (declaration, old)
    }

    private func declaringForAll(
        _ declaration: AttributeDeclaration
    ) throws(CatalogError) -> (new: AttributeDeclaration, old: AttributeDeclaration?) {
        let name = declaration.name
        guard case .definition(let definition) = declaration else {
            throw .unprocessable(field: "type", detail: "type is required")
        }
        let old = deployment.first { $0.name == name }?.declaration
        if old == nil { try name.checkAvailable() }
        let others = deployment.filter { $0.name != name }
        try Self.checkCount(others, [], adding: name, in: nil)
        try AttributeSet(deployment: others).checkOperands(of: definition)
        try Self.checkRatios(AttributeSet(deployment: others), of: definition)
        for (store, own) in stores.sorted(by: { $0.key < $1.key }) {
            if let other = Self.definition(name, in: own), other.untitled != definition.untitled {
                throw .conflict(
                    """
                    store “\(store)” declares “\(name)” as \(other.form.type.rawValue) with other parameters; delete that \
                    declaration first, or choose another name
                    """
                )
            }
            try Self.checkCount(others, own.filter { $0.name != name }, adding: name, in: store)
            try Self.checkRatios(AttributeSet(deployment: others, store: own), of: definition)
        }
        return (declaration, old)
    }

    /// Returns the declaration to delete.
    ///
    /// - Throws: `notFound`, `conflict` if a ratio needs the attribute.
    package func removing(
        _ name: AttributeName,
        of owner: AttributeOwner
    ) throws(CatalogError) -> AttributeDeclaration {
        var remaining = self
        let old: StoredAttribute?
        switch owner {
        case .deployment:
            old = deployment.first { $0.name == name }
            remaining.deployment.removeAll { $0.name == name }
        case .store(let store):
            old = stores[store]?.first { $0.name == name }
            remaining.stores[store]?.removeAll { $0.name == name }
        }
        guard let old else { throw .unknownAttribute(name, of: owner) }
        for set in [AttributeSet(deployment: remaining.deployment)] + remaining.sets where set[name] == nil {
            if let ratio = set.ratios(of: name).first { throw Self.isNeeded(name, by: ratio) }
        }
        return old.declaration
    }

    private var sets: [AttributeSet] {
        stores.sorted { $0.key < $1.key }.map { AttributeSet(deployment: deployment, store: $0.value) }
    }

    private static func isNeeded(_ name: AttributeName, by ratio: AttributeName) -> CatalogError {
        .conflict("the ratio “\(ratio)” needs “\(name)” as a number; change or delete the ratio first")
    }

    /// Checks that an attribute which ratios of a set need stays a number.
    private static func checkRatios(_ set: AttributeSet, of definition: AttributeDefinition) throws(CatalogError) {
        if case .number = definition.form { return }
        if let ratio = set.ratios(of: definition.name).first { throw isNeeded(definition.name, by: ratio) }
    }

    private static func definition(_ name: AttributeName, in stored: [StoredAttribute]) -> AttributeDefinition? {
        for attribute in stored where attribute.name == name {
            if case .definition(let definition) = attribute.declaration { return definition }
        }
        return nil
    }

    private static func checkCount(
        _ deployment: [StoredAttribute],
        _ own: [StoredAttribute],
        adding name: AttributeName,
        in store: CatalogKey?
    ) throws(CatalogError) {
        let set = AttributeSet(deployment: deployment, store: own)
        guard set[name] == nil, set.attributes.count >= AttributeDefinition.countLimit else { return }
        let owner = store.map { "store “\($0)”" } ?? "the deployment"
        throw .conflict(
            "\(owner) has \(set.attributes.count) attributes, the maximum is \(AttributeDefinition.countLimit); delete one that nobody uses"
        )
    }
}

extension AttributeDefinition {
    /// Checks that titles are for declared values.
    ///
    /// - Throws: `unprocessable`.
    fileprivate func checkOptions(of titles: AttributeRetitling) throws(CatalogError) {
        let known = form.options.map(\.key)
        if let unknown = titles.options.first(where: { !known.contains($0.key) }) {
            throw .unprocessable(
                field: "values",
                detail: "“\(unknown.key)” is not a declared value of “\(name)”; a store can only change titles"
            )
        }
    }
}
