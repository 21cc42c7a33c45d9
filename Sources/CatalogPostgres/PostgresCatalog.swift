package import Catalog
internal import LibPQ

/// A catalog in PostgreSQL: a database, and one store per feature, for example `catalog.shelves`.
@dynamicMemberLookup
package struct PostgresCatalog: Sendable {
    package let database: Database
    package let storage: CatalogStorage
    /// Signals that ordering keys need compaction.
    package let compactionSignal: CompactionSignal
    let pageStore: PostgresPageStore
    let purchaseStore: PostgresPurchaseStore
    private let priceStore: PostgresPriceStore
    private let userStore: PostgresUserStore
    private let responseStore: PostgresResponseStore
    private let listLifecycle: ListLifecycle

    /// The default memory for shelves, unions, their views, facets, columns and search indexes, and rendered products, in bytes.
    package static let shelfMemory = 256 << 20

    /// - Parameters:
    ///   - encodeEvent: the encoder of the events for users' devices, which are stored or made from settings.
    ///   - shelfMemory: the memory for shelves, unions, their views, facets, columns and search indexes, and rendered products, in bytes.
    package init(
        _ database: Database,
        encodingEvents encodeEvent: @escaping UserEvent.Encoder,
        shelfMemory: Int = shelfMemory
    ) {
        self.database = database
        compactionSignal = CompactionSignal()
        let customers = CustomerHashes(database)
        pageStore = PostgresPageStore(database: database, shelfMemory: ShelfMemoryShares(limit: shelfMemory))
        purchaseStore = PostgresPurchaseStore(database: database, customers: customers)
        priceStore = PostgresPriceStore(database: database)
        listLifecycle = ListLifecycle(database: database, encode: encodeEvent)
        userStore = PostgresUserStore(database: database, lists: listLifecycle, purchases: purchaseStore)
        responseStore = PostgresResponseStore(database: database)
        let settings = PostgresSettingsStore(database: database)
        storage = CatalogStorage(
            shelves: PostgresShelfStore(database: database),
            products: PostgresProductStore(database: database),
            attributes: PostgresAttributeStore(database: database, sets: pageStore.attributeSets),
            synonyms: PostgresSynonymStore(database: database),
            suggestions: PostgresSuggestionStore(pageStore),
            pages: pageStore,
            manualOrder: PostgresManualOrderStore(
                database: database,
                pages: pageStore,
                compactionSignal: compactionSignal
            ),
            purchases: purchaseStore,
            prices: priceStore,
            settings: settings,
            users: userStore,
            lists: PostgresListStore(database: database, encode: encodeEvent),
            versions: PostgresVersionStore(database: database, settings: settings, encode: encodeEvent),
            responses: responseStore,
            importProfiles: PostgresImportProfileStore(database: database),
            audit: PostgresAuditStore(database: database, customers: customers),
            readiness: database,
            states: database
        )
    }

    package subscript<Store>(dynamicMember store: KeyPath<CatalogStorage, Store>) -> Store { storage[keyPath: store] }

    /// The use of the memory for shelves.
    package var shelfMemoryUse: ShelfMemoryUse { pageStore.memory.use }

    package func shutDown() { database.shutDown() }

    /// Prepares the connections for pages, so that the first ones are not slower than others.
    package func warmUp() { pageStore.warmUp() }

    /// Anonymizes the purchases of a customer in every store, and of all who asked for it before. Folds all pending
    /// purchases.
    ///
    /// - Returns: the number of rows that named a customer.
    /// - Throws: `tooMany` if purchases cannot be folded now. Servers repeat that each minute.
    package func anonymize(customer: String) async throws(CatalogError) -> Int {
        try await purchaseStore.requestErasure(customer: customer, isAudited: true)
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
        try await priceStore.known(skus, in: store)
    }

    /// Deletes expired recorded responses in batches and returns their number.
    package func sweepResponses() async throws(CatalogError) -> Int { try await responseStore.sweep() }

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
        try await userStore.sweep(after: days)
    }

    /// Purges lists, items and memberships that can no longer be restored; returns their number.
    package func sweepLists(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await listLifecycle.sweep(after: days)
    }
}
