package import Catalog
internal import LibPQ

/// A catalog in PostgreSQL: a database, and one store per feature.
package struct PostgresCatalog: Sendable {
    package let database: Database
    let shelfStore: PostgresShelfStore
    let productStore: PostgresProductStore
    let pages: PostgresPageStore
    let diffs: PostgresDiffStore
    let orders: PostgresOrderStore
    let purchases: PostgresPurchaseStore
    let prices: PostgresPriceStore
    let settingsStore: PostgresSettingsStore
    let users: PostgresUserStore
    let listStore: PostgresListStore
    let changeStore: PostgresChangeStore
    let responses: PostgresResponseStore

    package init(_ database: Database) {
        self.database = database
        shelfStore = PostgresShelfStore(database: database)
        productStore = PostgresProductStore(database: database)
        pages = PostgresPageStore(database: database)
        diffs = PostgresDiffStore(pages: pages)
        orders = PostgresOrderStore(database: database, pages: pages)
        purchases = PostgresPurchaseStore(database: database, customers: CustomerHashes(database))
        prices = PostgresPriceStore(database: database)
        settingsStore = PostgresSettingsStore(database: database)
        listStore = PostgresListStore(database: database)
        users = PostgresUserStore(database: database, lists: listStore, purchases: purchases)
        changeStore = PostgresChangeStore(database: database)
        responses = PostgresResponseStore(database: database)
    }

    package func shutDown() { database.shutDown() }

    // MARK: - Beyond `CatalogStore`

    /// Anonymizes a customer's purchases in every store.
    ///
    /// - Returns: the number of rows that named the customer.
    package func forget(customer: String) async throws(CatalogError) -> Int {
        try await purchases.forget(customer: customer)
    }

    /// Returns the shelves on which some products are placed.
    package func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey] {
        try await prices.shelves(of: skus, in: store)
    }

    /// Returns those of some products that the store has.
    package func known(_ skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> Set<SKU> {
        try await prices.known(skus, in: store)
    }

    /// Deletes recorded responses that have expired, some at a time; returns how many.
    package func sweepResponses() async throws(CatalogError) -> Int { try await responses.sweep() }

    /// Forgets deleted settings and expired tickets; returns how many users or rows that were.
    ///
    /// - Parameter days: how long deletions are remembered.
    package func sweepUsers(after days: Int = Setting.tombstoneDays) async throws(CatalogError) -> Int {
        try await users.sweep(after: days)
    }

    /// Forgets lists, items and places that were deleted too long ago to be brought back; returns how many.
    package func sweepLists(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await listStore.sweep(after: days)
    }
}
