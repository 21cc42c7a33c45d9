/// The synonyms by which searches find products. Those of a store add to those of the deployment.
package protocol SynonymStore: Sendable {
    /// Returns the synonyms of an owner alone; nil if it has none.
    ///
    /// - Throws: `notFound` for the store.
    func synonyms(of owner: DeclarationOwner) async throws(CatalogError) -> Synonyms?
    /// Sets or replaces the synonyms of an owner.
    ///
    /// - Parameter expectation: what the caller expects of the synonyms.
    /// - Returns: whether the owner had none.
    /// - Throws: `notFound` for the store, and what `SynonymChange` throws.
    func set(
        _ synonyms: Synonyms,
        for owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError) -> Bool
    /// Deletes the synonyms of an owner.
    ///
    /// - Parameter expectation: what the caller expects of the synonyms.
    /// - Throws: `notFound` for the store or the synonyms, `staleSynonyms`.
    func remove(
        synonymsOf owner: DeclarationOwner,
        expecting expectation: SynonymExpectation?
    ) async throws(CatalogError)
}

/// Returns whether the synonyms of an owner are as a caller expects; they are nil if there are none.
package typealias SynonymExpectation = @Sendable (Synonyms?) -> Bool

extension SynonymStore {
    package func set(_ synonyms: Synonyms, for owner: DeclarationOwner) async throws(CatalogError) -> Bool {
        try await set(synonyms, for: owner, expecting: nil)
    }

    package func remove(synonymsOf owner: DeclarationOwner) async throws(CatalogError) {
        try await remove(synonymsOf: owner, expecting: nil)
    }
}

extension CatalogError {
    package static func noSynonyms(of owner: DeclarationOwner) -> CatalogError {
        switch owner {
        case .deployment: .notFound("the list of synonyms of the deployment")
        case .store(let store): .notFound("the list of synonyms of store “\(store)”")
        }
    }
}

/// The decision about a change of synonyms, by the current ones. The implementations of `SynonymStore` share it.
package struct SynonymChange: Sendable, Hashable {
    package let owner: DeclarationOwner
    package let old: Synonyms?
    package let new: Synonyms?

    /// - Throws: `staleSynonyms`, `tooLarge`, and `notFound` if there is nothing to delete.
    package init(
        of owner: DeclarationOwner,
        from old: Synonyms?,
        to new: Synonyms?,
        expecting expectation: SynonymExpectation? = nil
    ) throws(CatalogError) {
        if let expectation, !expectation(old) { throw .staleSynonyms(current: old) }
        if old == nil, new == nil { throw .noSynonyms(of: owner) }
        try new?.checkLength()
        (self.owner, self.old, self.new) = (owner, old, new)
    }

    /// Whether the owner had no synonyms.
    package var isNew: Bool { old == nil }
    /// Whether the lists differ. Their order has no effect, so another order is not a change, and is not stored.
    package var isChange: Bool {
        guard let old, let new else { return true }
        return !new.hasSameLists(as: old)
    }
}
