package import Catalog
internal import JSON
internal import Synchronization

extension InMemoryCatalog {
    package func attributes(of owner: DeclarationOwner) async throws(CatalogError) -> AttributeSet {
        let shared = deploymentAttributes.withLock { Array($0.values) }
        guard case .store(let store) = owner else { return AttributeSet(deployment: shared) }
        return try read(store) { AttributeSet(deployment: shared, store: Array($0.attributes.values)) }
    }

    package func titledAttributes(of head: ShelfHead) async throws(CatalogError) -> TitledAttributes {
        TitledAttributes(try await attributes(of: .store(head.store.key)))
    }

    package func declare(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingTypeFor uses: AttributeUses
    ) async throws(CatalogError) -> DeclaredAttribute {
        let now = clock()
        guard case .store(let store) = owner else { return try declareForAll(declaration, expectation, uses) }
        let shared = deploymentAttributes.withLock { Array($0.values) }
        return try write(store) { content throws(CatalogError) in
            let change = AttributeChange(deployment: shared, stores: [store: Array(content.attributes.values)])
            let declared = try change.declaring(
                declaration,
                for: owner,
                expecting: expectation,
                keepingTypeFor: uses
            )
            guard declared.isChange else { return declared }
            content.version += 1
            content.attributes[declared.new.name] = declared.new
            content.record(.attribute(declared.old, declared.new, of: owner), now)
            return declared
        }
    }

    private func declareForAll(
        _ declaration: AttributeDeclaration,
        _ expectation: AttributeExpectation?,
        _ uses: AttributeUses
    ) throws(CatalogError) -> DeclaredAttribute {
        let declared = try changeForAll { change throws(CatalogError) in
            try change.declaring(declaration, for: .deployment, expecting: expectation, keepingTypeFor: uses)
        }
        guard declared.isChange else { return declared }
        deploymentAttributes.withLock { $0[declared.new.name] = declared.new }
        attributeRevision.withLock { $0 += 1 }
        record(declared.old, declared.new)
        return declared
    }

    package func remove(
        attribute name: AttributeName,
        of owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingFor uses: AttributeUses
    ) async throws(CatalogError) {
        let now = clock()
        guard case .store(let store) = owner else { return try removeForAll(name, expectation, uses) }
        let shared = deploymentAttributes.withLock { Array($0.values) }
        try write(store) { content throws(CatalogError) in
            let change = AttributeChange(deployment: shared, stores: [store: Array(content.attributes.values)])
            let old = try change.removing(name, of: owner, expecting: expectation, keepingFor: uses)
            content.version += 1
            content.attributes[name] = nil
            content.record(.attribute(old, nil, of: owner), now)
        }
    }

    private func removeForAll(
        _ name: AttributeName,
        _ expectation: AttributeExpectation?,
        _ uses: AttributeUses
    ) throws(CatalogError) {
        let old = try changeForAll { change throws(CatalogError) in
            try change.removing(name, of: .deployment, expecting: expectation, keepingFor: uses)
        }
        deploymentAttributes.withLock { $0[name] = nil }
        attributeRevision.withLock { $0 += 1 }
        content.withLock { content in
            for key in content.keys {
                if case .titles? = content[key]!.attributes[name] { content[key]!.attributes[name] = nil }
            }
        }
        record(old, nil)
    }

    private func record(_ old: AttributeDeclaration?, _ new: AttributeDeclaration?) {
        guard let actor = UserID(ChangeOrigin.current.actor) else { return }
        record(.attribute(old, new, of: .deployment), of: actor)
    }

    /// Decides about a change of the deployment's declarations.
    private func changeForAll<T>(
        _ decide: (AttributeChange) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        let stores = content.withLock { $0.filter { !$0.value.isRemoved }.mapValues { Array($0.attributes.values) } }
        return try decide(
            AttributeChange(deployment: deploymentAttributes.withLock { Array($0.values) }, stores: stores)
        )
    }

    package func uses(of attribute: AttributeName, in owner: DeclarationOwner) async throws(CatalogError)
        -> AttributeUses
    {
        if case .store(let store) = owner { try read(store) { _ in } }
        let stores = content.withLock { content in
            content.filter { key, store in
                if case .definition? = store.attributes[attribute], owner == .deployment { return false }
                return !store.isRemoved && (owner == .deployment || owner == .store(key))
            }
        }
        let declaring = content.withLock { content in
            content.filter { if case .definition? = $0.value.attributes[attribute] { true } else { false } }.map(\.key)
        }
        let settings = users.withLock { $0.values.flatMap(\.settings.values) }.filter { setting in
            guard setting.key.isSort, let value = setting.value else { return false }
            let store = CatalogKey(setting.key.text.split(separator: "/")[1])!
            let counts = if case .store(let own) = owner { store == own } else { !declaring.contains(store) }
            return counts && attribute.isUsed(by: value)
        }
        func uses(_ sort: Sort?) -> Bool { sort.map { attribute.isUsed(bySort: $0.description) } ?? false }
        let shelves = stores.flatMap { key, store in
            store.shelves.values.filter {
                !$0.isRemoved && (uses($0.shelf.defaultSort) || uses($0.shelf.positionSource))
            }.map {
                AttributeUses.Place(store: key, shelf: $0.shelf.key)
            }
        }
        let profiles = profiles.withLock { Array($0.values) }.filter { profile in
            (try? JSONReader.parse(Array(profile.document.utf8))).map(attribute.isUsed(byProfile:)) ?? false
        }
        return AttributeUses(
            settings: settings.count,
            stores: stores.filter { uses($0.value.store.defaultSort) }.keys.sorted(),
            shelves: shelves.sorted { ($0.store, $0.shelf) < ($1.store, $1.shelf) },
            profiles: profiles.map(\.name).sorted()
        )
    }

    package func unreadableValues(
        of definition: AttributeDefinition,
        in owner: DeclarationOwner,
        within limit: Duration
    ) async throws(CatalogError) -> Int? {
        if case .store(let store) = owner { try read(store) { _ in } }
        guard limit > .zero else { return nil }
        let products = content.withLock { content in
            content.flatMap { key, store in
                owner == .deployment || owner == .store(key) ? Array(store.products.values) : []
            }
        }
        return products.count { product in
            guard let members = try? JSONReader.parse(Array(product.attributes.utf8)),
                let value = members[definition.name.text]
            else { return false }
            do { _ = try definition.value(value) } catch { return true }
            return false
        }
    }

    /// The attributes that sorts and filters of a store can have.
    func resolvedAttributes(of store: StoreContent?) -> ResolvedAttributes {
        let shared = deploymentAttributes.withLock { Array($0.values) }
        let own = store.map { Array($0.attributes.values) } ?? []
        return ResolvedAttributes(AttributeSet(deployment: shared, store: own))
    }

    /// Checks the attributes of a product that is written.
    func checkAttributes(_ product: Product, replacing old: Product?, in store: StoreContent) throws(CatalogError) {
        let shared = deploymentAttributes.withLock { Array($0.values) }
        let changed = try ChangedAttributes(product.attributes, replacing: old?.attributes)
        try changed.check(against: AttributeSet(deployment: shared, store: Array(store.attributes.values)))
    }
}
