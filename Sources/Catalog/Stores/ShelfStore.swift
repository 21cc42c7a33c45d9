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
    /// Creates or changes a shelf in one transaction.
    ///
    /// - Parameter change: returns the new settings of the stored shelf, which is nil for a new one. It may run several times.
    /// - Returns: whether it was created.
    /// - Throws: `notFound` for the store; `unprocessable` for a parent that is not allowed; what `change` throws.
    func update(
        shelf: CatalogKey,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Shelf?) throws(CatalogError) -> Shelf
    ) async throws(CatalogError) -> Bool
    func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError)
    /// Moves shelves in their store's manual order.
    ///
    /// - Parameter expected: the versions of the order that are accepted; nil for any.
    func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Set<Int64>?,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome
}

extension ShelfStore {
    /// Creates or replaces a shelf, as `update` does.
    package func put(_ shelf: Shelf, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await update(shelf: shelf.key, in: store) { _ in shelf }
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

/// A request for a page of a store's shelves.
package struct ShelvesRequest: Sendable {
    package var store: CatalogKey
    package var sort: ShelfSort
    package var limit: Int
    package var after: Cursor?

    package init(
        store: CatalogKey,
        sort: ShelfSort = .position,
        limit: Int = PageRequest.limits.upperBound,
        after: Cursor? = nil
    ) {
        self.store = store
        self.sort = sort
        self.limit = limit
        self.after = after
    }

    /// The listing that a cursor of the request belongs to.
    ///
    /// - Parameter language: that of the store.
    package func scope(in language: String) -> String { "shelves/\(store) \(language)" }
}

/// A page of a store's shelves.
package struct ShelvesPage: Sendable {
    package let shelves: [ShelfState]
    package let next: Cursor?

    package init(shelves: [ShelfState], next: Cursor?) {
        self.shelves = shelves
        self.next = next
    }
}
