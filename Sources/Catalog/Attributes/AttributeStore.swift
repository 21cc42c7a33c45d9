package import JSON

/// The declarations of attributes.
package protocol AttributeStore: Sendable {
    /// Returns the attributes of the deployment, or those in effect in a store.
    ///
    /// - Throws: `notFound` for the store.
    func attributes(of owner: DeclarationOwner) async throws(CatalogError) -> AttributeSet
    /// Returns the attributes in effect in the store of a shelf, at the versions of its head or later.
    ///
    /// - Throws: `notFound` for the store.
    func titledAttributes(of head: ShelfHead) async throws(CatalogError) -> TitledAttributes
    /// Creates or replaces a declaration of an owner, as `AttributeChange` decides.
    ///
    /// Products keep their values. Those that do not have the declared type count as missing.
    ///
    /// - Parameters:
    ///   - expectation: what the caller expects of the attribute.
    ///   - uses: the uses of the attribute, so that it keeps its type; none if the caller confirms the change.
    /// - Throws: `notFound` for the store, and what `AttributeChange` throws.
    func declare(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingTypeFor uses: AttributeUses
    ) async throws(CatalogError) -> DeclaredAttribute
    /// Deletes a declaration of an owner. Products keep their values. With an attribute of the deployment, the titles of stores are deleted.
    ///
    /// - Parameters:
    ///   - expectation: what the caller expects of the attribute.
    ///   - uses: the uses of the attribute, so that it is not deleted; none if the caller confirms the deletion.
    /// - Throws: `notFound` for the store or the declaration, `conflict` if a ratio uses the attribute, `inUse`, `staleAttribute`.
    func remove(
        attribute: AttributeName,
        of owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        keepingFor uses: AttributeUses
    ) async throws(CatalogError)
    /// Returns the uses of an attribute in a store, or, for the deployment, in all stores that do not declare it themselves.
    ///
    /// No lock is held, so a use that begins meanwhile may be missing. Without the attribute, it is ignored.
    ///
    /// - Throws: `notFound` for the store.
    /// - Complexity: O(settings of all users): they are read sequentially, because changes of attributes are rare.
    func uses(of attribute: AttributeName, in owner: DeclarationOwner) async throws(CatalogError) -> AttributeUses
    /// Returns the number of an owner's products whose value does not have the type of an attribute.
    ///
    /// Products are read in batches, so those that are written meanwhile may be counted or not.
    ///
    /// - Parameter limit: the time after which no other batch is read.
    /// - Returns: nil if the time does not suffice.
    /// - Throws: `notFound` for the store.
    /// - Complexity: O(products of the owner), in the memory for one batch.
    func unreadableValues(
        of attribute: AttributeDefinition,
        in owner: DeclarationOwner,
        within limit: Duration
    ) async throws(CatalogError) -> Int?
}

/// Returns whether an attribute in effect is as a caller expects; it is nil if it does not exist.
package typealias AttributeExpectation = @Sendable (EffectiveAttribute?) -> Bool

extension AttributeStore {
    package func declare(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner
    ) async throws(CatalogError) -> DeclaredAttribute {
        try await declare(declaration, for: owner, expecting: nil, isConfirmed: true)
    }

    /// Returns the attributes that sorts and filters of a store can have: those of the deployment if the store does not exist.
    package func resolved(of store: CatalogKey) async throws(CatalogError) -> ResolvedAttributes {
        do { return ResolvedAttributes(try await attributes(of: .store(store))) } catch .notFound {
            return ResolvedAttributes(try await attributes(of: .deployment))
        }
    }

    /// Checks that the store of a remembered sort has its attributes. A setting from a device that was offline is not checked: the attribute
    /// may have been deleted since.
    ///
    /// - Throws: `unknownSortKey`, `malformed`.
    package func check(_ value: JSONValue?, for key: SettingKey) async throws(CatalogError) {
        guard let store = key.storeOfSort, let value else { return }
        let sort = try RememberedSort(value, field: "value")
        guard sort.namesAttributes else { return }
        let isPlain = if case .string = value { true } else { false }
        let attributes = try await resolved(of: store)
        do { try sort.check(in: attributes) } catch .unknownSortKey(let error, _) where isPlain {
            throw .unknownSortKey(error, parameter: "value")
        } catch { throw error.inside("value") }
    }

    package func remove(attribute: AttributeName, of owner: DeclarationOwner) async throws(CatalogError) {
        try await remove(attribute: attribute, of: owner, expecting: nil, isConfirmed: true)
    }

    /// Creates or replaces a declaration of an owner.
    ///
    /// - Parameter isConfirmed: whether an attribute that something uses may get another type.
    /// - Throws: `inUse`, and what the requirement throws.
    package func declare(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        isConfirmed: Bool
    ) async throws(CatalogError) -> DeclaredAttribute {
        var uses = AttributeUses.none
        // Uses are looked for only if the type changes. A change between both reads needs no confirmation.
        if !isConfirmed, case .definition(let new) = declaration,
            let current = try await attributes(of: owner)[new.name],
            current.definition.form.typeName != new.form.typeName
        {
            uses = try await self.uses(of: new.name, in: owner)
        }
        return try await declare(declaration, for: owner, expecting: expectation, keepingTypeFor: uses)
    }

    /// Deletes a declaration of an owner.
    ///
    /// - Parameter isConfirmed: whether an attribute that something uses may be deleted.
    /// - Throws: `inUse`, and what the requirement throws.
    package func remove(
        attribute: AttributeName,
        of owner: DeclarationOwner,
        expecting expectation: AttributeExpectation?,
        isConfirmed: Bool
    ) async throws(CatalogError) {
        var uses = AttributeUses.none
        if !isConfirmed, try await attributes(of: owner)[attribute] != nil {
            uses = try await self.uses(of: attribute, in: owner)
        }
        try await remove(attribute: attribute, of: owner, expecting: expectation, keepingFor: uses)
    }

    /// Returns the number of products whose value does not have the type that was declared.
    ///
    /// - Returns: nil if the type has not changed, or if the values cannot be counted in the time of a request. Nothing is thrown then, because
    ///   the attribute is declared.
    package func unreadableValues(after declared: DeclaredAttribute, of owner: DeclarationOwner) async -> Int? {
        guard declared.changesForm else { return nil }
        let definition = declared.attribute.definition
        let count = try? await unreadableValues(of: definition, in: owner, within: TimeLimit.shelf.duration)
        return count ?? nil
    }
}

/// The effect of a declaration.
package struct DeclaredAttribute: Sendable, Hashable {
    /// The declaration to store.
    package let new: AttributeDeclaration
    /// The declaration that it replaces.
    package let old: AttributeDeclaration?
    /// The attribute in effect with the new declaration.
    package let attribute: EffectiveAttribute
    /// Whether values may be readable that were not before, or the reverse.
    package let changesForm: Bool

    /// Whether the owner had no declaration of the attribute.
    package var isNew: Bool { old == nil }
    package var isChange: Bool { new != old }
}

extension CatalogError {
    package static func unknownAttribute(_ name: AttributeName, of owner: DeclarationOwner) -> CatalogError {
        switch owner {
        case .deployment: .notFound("attribute “\(name)” of the deployment")
        case .store(let store): .notFound("attribute “\(name)” of store “\(store)”")
        }
    }
}

/// The decision about a change of declarations, by the current ones. The implementations of `AttributeStore` share it.
package struct AttributeChange: Sendable {
    /// The declarations of the deployment.
    package var deployment: [AttributeDeclaration]
    /// The declarations of stores: of the one that is changed, or, for a change of the deployment, of all stores.
    package var stores: [CatalogKey: [AttributeDeclaration]]

    package init(deployment: [AttributeDeclaration], stores: [CatalogKey: [AttributeDeclaration]]) {
        (self.deployment, self.stores) = (deployment, stores)
    }

    /// Returns the declaration to store, and its effect.
    ///
    /// - Parameter uses: the uses of the attribute, so that it keeps its type.
    /// - Throws: `unprocessable` for an invalid name, or operands of a ratio that are not numbers; `tooLarge`; `inUse`; `staleAttribute`.
    ///   `conflict` for a type that contradicts another owner, for too many or too long declarations, and for a number that a ratio uses.
    package func declaring(
        _ declaration: AttributeDeclaration,
        for owner: DeclarationOwner,
        expecting expectation: AttributeExpectation? = nil,
        keepingTypeFor uses: AttributeUses = .none
    ) throws(CatalogError) -> DeclaredAttribute {
        let name = declaration.name
        let current = set(of: owner)[name]
        try Self.check(current, expectation)
        let old = declarations(of: owner).first { $0.name == name }
        let new =
            switch owner {
            case .deployment: try definitionForAll(declaration)
            case .store(let store): try declarationOfStore(declaration, replacing: old, store)
            }
        var changed = self
        changed.replace(name, of: owner, with: new)
        try changed.checkSize(of: new, owner)
        guard let attribute = changed.set(of: owner)[name] else { throw .fault("“\(name)” is not in effect") }
        try attribute.definition.checkLanguages()
        if owner == .deployment { try changed.checkLanguagesInStores(name) }
        let isRetyped = current.map { $0.definition.form.typeName != attribute.definition.form.typeName } ?? false
        guard !isRetyped || uses.isEmpty else { throw .inUse(name, uses) }
        return DeclaredAttribute(
            new: new,
            old: old,
            attribute: attribute,
            changesForm: current?.definition.untitled.form != attribute.definition.untitled.form
        )
    }

    private func declarationOfStore(
        _ declaration: AttributeDeclaration,
        replacing old: AttributeDeclaration?,
        _ store: CatalogKey
    ) throws(CatalogError) -> AttributeDeclaration {
        let name = declaration.name
        let own = stores[store] ?? []
        if let shared = Self.definition(name, in: deployment) {
            guard let titles = declaration.titles(for: shared) else {
                throw .conflict(
                    """
                    the deployment declares “\(name)” as \(shared.form.typeName) with other parameters; leave out all \
                    properties but title and values, or choose another name
                    """
                )
            }
            try shared.checkOptions(of: titles)
            guard case .definition(let definition)? = old, definition.untitled == shared.untitled else {
                return .titles(name, titles.removing(shared.titles))
            }
            // The store's definition stays, and is in effect again if the deployment deletes its own.
            let others = shared.titles.removing(definition.titles)
            return .definition(shared.untitled.retitled(titles.removing(others)))
        }
        guard case .definition(let definition) = declaration else {
            throw .unprocessable(field: "type", detail: "type is required: the deployment does not declare “\(name)”")
        }
        try Self.checkName(name, replacing: old)
        let others = own.filter { $0.name != name }
        try Self.checkCount(deployment, others, adding: name, in: store)
        let set = AttributeSet(deployment: deployment, store: others)
        try set.checkOperands(of: definition)
        try Self.checkRatios(set, of: definition)
        return declaration
    }

    private func definitionForAll(_ declaration: AttributeDeclaration) throws(CatalogError) -> AttributeDeclaration {
        let name = declaration.name
        guard case .definition(let definition) = declaration else {
            throw .unprocessable(field: "type", detail: "type is required")
        }
        try Self.checkName(name, replacing: deployment.first { $0.name == name })
        let others = deployment.filter { $0.name != name }
        try Self.checkCount(others, [], adding: name, in: nil)
        try AttributeSet(deployment: others).checkOperands(of: definition)
        try Self.checkRatios(AttributeSet(deployment: others), of: definition)
        for (store, own) in stores.sorted(by: { $0.key < $1.key }) {
            if let other = Self.definition(name, in: own), other.untitled != definition.untitled {
                throw .conflict(
                    """
                    store “\(store)” declares “\(name)” as \(other.form.typeName) with other parameters; delete that \
                    declaration first, or choose another name
                    """
                )
            }
            try Self.checkCount(others, own.filter { $0.name != name }, adding: name, in: store)
            try Self.checkRatios(AttributeSet(deployment: others, store: own), of: definition)
        }
        return declaration
    }

    /// Returns the declaration to delete.
    ///
    /// - Parameter uses: the uses of the attribute, so that it is not deleted. Deleting titles, or the declaration of an attribute that the
    ///   deployment declares, too, has no effect on it.
    /// - Throws: `notFound`, `conflict` if a ratio uses the attribute, `inUse`, `staleAttribute`.
    package func removing(
        _ name: AttributeName,
        of owner: DeclarationOwner,
        expecting expectation: AttributeExpectation? = nil,
        keepingFor uses: AttributeUses = .none
    ) throws(CatalogError) -> AttributeDeclaration {
        try Self.check(set(of: owner)[name], expectation)
        guard let old = declarations(of: owner).first(where: { $0.name == name }) else {
            throw .unknownAttribute(name, of: owner)
        }
        var remaining = self
        remaining.replace(name, of: owner, with: nil)
        for set in [AttributeSet(deployment: remaining.deployment)] + remaining.sets where set[name] == nil {
            if let ratio = set.ratios(of: name).first { throw Self.isUsed(name, by: ratio) }
        }
        guard remaining.set(of: owner)[name] != nil || uses.isEmpty else { throw .inUse(name, uses) }
        return old
    }

    // MARK: - Parts

    private func declarations(of owner: DeclarationOwner) -> [AttributeDeclaration] {
        switch owner {
        case .deployment: deployment
        case .store(let store): stores[store] ?? []
        }
    }

    private mutating func replace(_ name: AttributeName, of owner: DeclarationOwner, with new: AttributeDeclaration?) {
        let others = declarations(of: owner).filter { $0.name != name } + (new.map { [$0] } ?? [])
        switch owner {
        case .deployment: deployment = others
        case .store(let store): stores[store] = others
        }
    }

    private func set(of owner: DeclarationOwner) -> AttributeSet {
        switch owner {
        case .deployment: AttributeSet(deployment: deployment)
        case .store(let store): AttributeSet(deployment: deployment, store: stores[store] ?? [])
        }
    }

    private static func check(
        _ current: EffectiveAttribute?,
        _ expectation: AttributeExpectation?
    ) throws(CatalogError) {
        if let expectation, !expectation(current) { throw .staleAttribute(current: current) }
    }

    /// Checks the name of a new definition. Titles that were left without a definition do not make it an old one.
    private static func checkName(
        _ name: AttributeName,
        replacing old: AttributeDeclaration?
    ) throws(CatalogError) {
        if case .definition? = old { return }
        try name.checkAvailable()
    }

    /// Checks the size of a new declaration, and of all declarations of its owner with it.
    ///
    /// The titles of the deployment are not part of a store's declaration. So a client can send back what it reads, even if that is longer.
    private func checkSize(of new: AttributeDeclaration, _ owner: DeclarationOwner) throws(CatalogError) {
        let (length, limit) = (new.document.text.utf8.count, AttributeDefinition.documentLimit)
        guard length <= limit else {
            throw .tooLarge("the declaration has \(length) bytes; the maximum is \(limit)")
        }
        let total = declarations(of: owner).reduce(0) { $0 + $1.document.text.utf8.count }
        guard total <= AttributeDefinition.documentsLimit else {
            let holder = if case .store(let store) = owner { "store “\(store)”" } else { "the deployment" }
            throw .conflict(
                """
                all declarations of \(holder) would have \(total) bytes, the maximum is \(AttributeDefinition.documentsLimit); \
                delete an unused one, or use shorter titles
                """
            )
        }
    }

    /// Checks that no store's titles, together with new ones of the deployment, have too many languages.
    private func checkLanguagesInStores(_ name: AttributeName) throws(CatalogError) {
        for (store, own) in stores.sorted(by: { $0.key < $1.key }) where own.contains(where: { $0.name == name }) {
            guard let attribute = AttributeSet(deployment: deployment, store: own)[name] else { continue }
            do { try attribute.definition.checkLanguages() } catch {
                throw .conflict("with the titles of store “\(store)”, \(error.reason)")
            }
        }
    }

    private var sets: [AttributeSet] {
        stores.sorted { $0.key < $1.key }.map { AttributeSet(deployment: deployment, store: $0.value) }
    }

    private static func isUsed(_ name: AttributeName, by ratio: AttributeName) -> CatalogError {
        .conflict(
            "the ratio “\(ratio)” uses “\(name)” as an operand, which must be a number; change or delete the ratio first"
        )
    }

    /// Checks that an operand of ratios of a set stays a number.
    private static func checkRatios(_ set: AttributeSet, of definition: AttributeDefinition) throws(CatalogError) {
        if case .number = definition.form { return }
        if let ratio = set.ratios(of: definition.name).first { throw isUsed(definition.name, by: ratio) }
    }

    private static func definition(_ name: AttributeName, in stored: [AttributeDeclaration]) -> AttributeDefinition? {
        for case .definition(let definition) in stored where definition.name == name { return definition }
        return nil
    }

    private static func checkCount(
        _ deployment: [AttributeDeclaration],
        _ own: [AttributeDeclaration],
        adding name: AttributeName,
        in store: CatalogKey?
    ) throws(CatalogError) {
        let set = AttributeSet(deployment: deployment, store: own)
        guard set[name] == nil, set.attributes.count >= AttributeDefinition.countLimit else { return }
        let owner = store.map { "store “\($0)”" } ?? "the deployment"
        throw .conflict(
            "\(owner) has \(set.attributes.count) attributes, the maximum is \(AttributeDefinition.countLimit); delete an unused one"
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
