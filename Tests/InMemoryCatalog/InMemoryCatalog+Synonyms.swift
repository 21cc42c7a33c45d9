package import Catalog
internal import Synchronization

extension InMemoryCatalog {
    package func synonyms(of owner: DeclarationOwner) async throws(CatalogError) -> Synonyms? {
        guard case .store(let store) = owner else { return deploymentSynonyms.withLock { $0 } }
        return try read(store) { $0.synonyms }
    }

    package func set(
        _ synonyms: Synonyms,
        for owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError) -> Bool {
        try change(owner, to: synonyms, expectation).isNew
    }

    package func remove(
        synonymsOf owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError) {
        _ = try change(owner, to: nil, expectation)
    }

    private func change(
        _ owner: DeclarationOwner,
        to new: Synonyms?,
        _ expectation: SynonymExpectation?
    ) throws(CatalogError) -> SynonymChange {
        let now = clock()
        guard case .store(let store) = owner else { return try changeForAll(to: new, expectation) }
        return try write(store) { content throws(CatalogError) in
            let change = try SynonymChange(of: owner, from: content.synonyms, to: new, expecting: expectation)
            guard change.isChange else { return change }
            content.version += 1
            content.synonyms = new
            content.record(.synonyms(change), now)
            return change
        }
    }

    private func changeForAll(
        to new: Synonyms?,
        _ expectation: SynonymExpectation?
    ) throws(CatalogError) -> SynonymChange {
        let old = deploymentSynonyms.withLock { $0 }
        let change = try SynonymChange(of: .deployment, from: old, to: new, expecting: expectation)
        guard change.isChange else { return change }
        deploymentSynonyms.withLock { $0 = new }
        synonymRevision.withLock { $0 += 1 }
        if let actor = UserID(ChangeOrigin.current.actor) { record(.synonyms(change), of: actor) }
        return change
    }
}
