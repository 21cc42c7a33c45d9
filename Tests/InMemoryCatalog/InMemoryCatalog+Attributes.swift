package import Catalog
internal import JSON
internal import Synchronization

extension InMemoryCatalog {
    /// The declarations of the deployment, with their revision.
    struct SharedAttributes: Sendable {
        var declarations: [AttributeName: StoredAttribute] = [:]
        var revision: Int64 = 0
    }

    package func attributes(of owner: AttributeOwner) async throws(CatalogError) -> AttributeSet {
        let shared = sharedAttributes.withLock { Array($0.declarations.values) }
        guard case .store(let store) = owner else { return AttributeSet(deployment: shared) }
        return try read(store) { AttributeSet(deployment: shared, store: Array($0.attributes.values)) }
    }

    package func declare(
        _ declaration: AttributeDeclaration,
        for owner: AttributeOwner
    ) async throws(CatalogError) -> Bool {
        let now = clock()
        guard case .store(let store) = owner else { return try declareForAll(declaration) }
        let shared = sharedAttributes.withLock { Array($0.declarations.values) }
        return try write(store) { content throws(CatalogError) in
            let change = AttributeChange(deployment: shared, stores: [store: Array(content.attributes.values)])
            let (new, old) = try change.declaring(declaration, for: owner)
            guard new != old else { return false }
            content.version += 1
            content.attributes[new.name] = StoredAttribute(declaration: new, revision: content.version)
            content.record(.attribute(old, new, of: owner), now)
            return old == nil
        }
    }

    private func declareForAll(_ declaration: AttributeDeclaration) throws(CatalogError) -> Bool {
        let stores = storeAttributes()
        let result: Result<Change, CatalogError> = sharedAttributes.withLock { shared in
            do throws(CatalogError) {
                let change = AttributeChange(deployment: Array(shared.declarations.values), stores: stores)
                let (new, old) = try change.declaring(declaration, for: .deployment)
                guard new != old else { return .success((new, old)) }
                shared.revision += 1
                shared.declarations[new.name] = StoredAttribute(declaration: new, revision: shared.revision)
                return .success((new, old))
            } catch {
                return .failure(error)
            }
        }
        let (new, old) = try result.get()
        record(old, new)
        return old == nil
    }

    private typealias Change = (new: AttributeDeclaration, old: AttributeDeclaration?)

    package func remove(attribute name: AttributeName, of owner: AttributeOwner) async throws(CatalogError) {
        let now = clock()
        guard case .store(let store) = owner else { return try removeForAll(name) }
        let shared = sharedAttributes.withLock { Array($0.declarations.values) }
        try write(store) { content throws(CatalogError) in
            let change = AttributeChange(deployment: shared, stores: [store: Array(content.attributes.values)])
            let old = try change.removing(name, of: owner)
            content.version += 1
            content.attributes[name] = nil
            content.record(.attribute(old, nil, of: owner), now)
        }
    }

    private func removeForAll(_ name: AttributeName) throws(CatalogError) {
        let stores = storeAttributes()
        let result: Result<AttributeDeclaration, CatalogError> = sharedAttributes.withLock { shared in
            do throws(CatalogError) {
                let change = AttributeChange(deployment: Array(shared.declarations.values), stores: stores)
                let old = try change.removing(name, of: .deployment)
                shared.revision += 1
                shared.declarations[name] = nil
                return .success(old)
            } catch {
                return .failure(error)
            }
        }
        let old = try result.get()
        content.withLock { content in
            for key in content.keys {
                if case .titles? = content[key]!.attributes[name]?.declaration { content[key]!.attributes[name] = nil }
            }
        }
        record(old, nil)
    }

    private func record(_ old: AttributeDeclaration?, _ new: AttributeDeclaration?) {
        guard let actor = UserID(ChangeOrigin.current.actor) else { return }
        record(.attribute(old, new, of: .deployment), of: actor)
    }

    private func storeAttributes() -> [CatalogKey: [StoredAttribute]] {
        content.withLock { $0.filter { !$0.value.isRemoved }.mapValues { Array($0.attributes.values) } }
    }

    package func unreadableValues(
        of name: AttributeName,
        in owner: AttributeOwner
    ) async throws(CatalogError) -> Int {
        guard let definition = try await attributes(of: owner)[name]?.definition else {
            throw .unknownAttribute(name, of: owner)
        }
        let products = content.withLock { content in
            content.flatMap { key, store in
                owner == .deployment || owner == .store(key) ? Array(store.products.values) : []
            }
        }
        return products.count { product in
            guard let members = try? JSONReader.parse(Array(product.attributes.utf8)), let value = members[name.text]
            else { return false }
            return (try? definition.value(value)) == nil && value != .null
        }
    }

    /// Checks the attributes of a product that is written.
    func checkAttributes(_ product: Product, replacing old: Product?, in store: StoreContent) throws(CatalogError) {
        let shared = sharedAttributes.withLock { Array($0.declarations.values) }
        let set = AttributeSet(deployment: shared, store: Array(store.attributes.values))
        try set.check(product.attributes, replacing: old?.attributes)
    }
}
