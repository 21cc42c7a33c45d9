/// The stores of a deployment and their shelves.
package protocol ShelfStore: Sendable {
    func stores() async throws(CatalogError) -> [Store]
    /// - Throws: `notFound`.
    func store(_ key: CatalogKey) async throws(CatalogError) -> Store
    /// - Throws: `notFound` if there is no such store.
    func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage
    /// - Throws: `notFound` for the store or the shelf.
    func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead
    /// Creates or replaces a store.
    ///
    /// - Returns: whether it was created.
    func put(_ store: Store) async throws(CatalogError) -> Bool
    /// Deletes a store with its products, shelves, orders and purchases.
    ///
    /// Users keep their settings and the items of their lists. The audit log stays. If the store is created again, versions go on.
    ///
    /// - Returns: the number of its products.
    /// - Throws: `notFound`.
    func remove(store: CatalogKey) async throws(CatalogError) -> Int
    /// Creates or replaces a shelf.
    ///
    /// - Parameter expected: the version that the shelf must still have; nil for any.
    /// - Returns: whether it was created.
    /// - Throws: `conflict` if it has another version.
    func put(_ shelf: Shelf, in store: CatalogKey, replacing expected: Int64?) async throws(CatalogError) -> Bool
    func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError)
    /// Moves shelves in their store's manual order.
    ///
    /// - Parameter expected: the versions of the order that are accepted; nil for any.
    func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Set<Int64>?,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> OrderEditOutcome
}

extension ShelfStore {
    package func put(_ shelf: Shelf, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await put(shelf, in: store, replacing: nil)
    }

    /// Returns a store; nil if it does not exist.
    package func storeIfExists(_ key: CatalogKey) async throws(CatalogError) -> Store? {
        do { return try await store(key) } catch .notFound { return nil }
    }

    /// Returns a shelf; nil if it or its store does not exist.
    package func shelfIfExists(_ store: CatalogKey, _ key: CatalogKey) async throws(CatalogError) -> ShelfHead? {
        do { return try await shelf(store, key) } catch .notFound { return nil }
    }
}
