package import Catalog
internal import LibPQ

/// A catalog in PostgreSQL: a database, and one store per feature.
package struct PostgresCatalog: Sendable {
    package let database: Database
    let shelfStore: PostgresShelfStore
    let productStore: PostgresProductStore
    let pages: PostgresPageStore
    let orders: PostgresOrderStore
    let purchases: PostgresPurchaseStore
    let prices: PostgresPriceStore
    let settingsStore: PostgresSettingsStore
    let users: PostgresUserStore
    let listStore: PostgresListStore
    let listLifecycle: ListLifecycle
    let changeStore: PostgresChangeStore
    let responses: PostgresResponseStore
    let auditStore: PostgresAuditStore
    let importProfileStore: PostgresImportProfileStore
    /// Signals that ordering keys need compaction.
    package let compactionSignal: CompactionSignal

    /// The default memory for shelves, unions, their views and facets, and rendered products, in bytes.
    package static let shelfMemory = 256 << 20

    /// - Parameter shelfMemory: the memory for shelves, unions, their views and facets, and rendered products, in bytes.
    package init(_ database: Database, shelfMemory: Int = shelfMemory) {
        self.database = database
        compactionSignal = CompactionSignal()
        shelfStore = PostgresShelfStore(database: database)
        productStore = PostgresProductStore(database: database)
        pages = PostgresPageStore(database: database, shelfMemory: ShelfMemoryShares(limit: shelfMemory))
        orders = PostgresOrderStore(database: database, pages: pages, compactionSignal: compactionSignal)
        let customers = CustomerHashes(database)
        purchases = PostgresPurchaseStore(database: database, customers: customers)
        prices = PostgresPriceStore(database: database)
        settingsStore = PostgresSettingsStore(database: database)
        listStore = PostgresListStore(database: database)
        listLifecycle = ListLifecycle(database: database)
        users = PostgresUserStore(database: database, lists: listLifecycle, purchases: purchases)
        changeStore = PostgresChangeStore(database: database, settings: settingsStore)
        responses = PostgresResponseStore(database: database)
        importProfileStore = PostgresImportProfileStore(database: database)
        auditStore = PostgresAuditStore(database: database, customers: customers)
    }

    /// The use of the memory for shelves.
    package var shelfMemoryUse: ShelfMemoryUse { pages.memoryUse }

    package func shutDown() { database.shutDown() }

    /// Prepares the connections for pages, so that the first ones are not slower than others.
    package func warmUp() { pages.warmUp() }

    // MARK: - Beyond `CatalogStore`

    /// Anonymizes the purchases of a customer in every store, and of all who asked for it before. Folds all pending
    /// purchases.
    ///
    /// - Returns: the number of rows that named a customer.
    /// - Throws: `tooMany` if purchases cannot be folded now. Servers repeat that each minute.
    package func anonymize(customer: String) async throws(CatalogError) -> Int {
        try await purchases.requestErasure(customer: customer, isAudited: true)
        let outcome = try await PurchaseFold(self).run()
        guard !outcome.isPostponed else {
            throw .tooMany(
                "the customer is not anonymized yet, because a long transaction or the move of a shard locks purchase_inbox; try again later"
            )
        }
        return outcome.anonymized
    }

    /// Returns the products among the given ones that exist in the store.
    package func known(_ skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> Set<SKU> {
        try await prices.known(skus, in: store)
    }

    /// Deletes expired recorded responses in batches and returns their number.
    package func sweepResponses() async throws(CatalogError) -> Int { try await responses.sweep() }

    /// Deletes old changes of shelves in batches, which no server follows any more, and returns their number.
    package func trimShelfChanges() async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            try await database.batch.transaction(within: .edit) { try $0.execute(ShelfChangeStatements.trim) }
        }
    }

    /// Purges old tombstones of settings and expired tickets; returns the number of affected users and rows.
    ///
    /// - Parameter days: how long tombstones are kept, in days.
    package func sweepUsers(after days: Int = Setting.tombstoneDays) async throws(CatalogError) -> Int {
        try await users.sweep(after: days)
    }

    /// Purges lists, items and memberships that can no longer be restored; returns their number.
    package func sweepLists(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await listLifecycle.sweep(after: days)
    }
}
