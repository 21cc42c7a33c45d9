package import Catalog
internal import CatalogJSON

// Forwards each store protocol to its implementation.
extension PostgresCatalog: CatalogStore {
    // MARK: - Stores

    package func stores() async throws(CatalogError) -> [Store] {
        try await shelfStore.stores()
    }

    package func store(_ key: CatalogKey) async throws(CatalogError) -> Store {
        try await shelfStore.store(key)
    }

    package func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        try await shelfStore.shelves(request)
    }

    package func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead {
        try await shelfStore.shelf(store, shelf)
    }

    package func put(_ store: Store) async throws(CatalogError) -> Bool {
        try await shelfStore.put(store)
    }

    package func remove(store: CatalogKey) async throws(CatalogError) -> Int {
        try await shelfStore.remove(store: store)
    }

    package func update(
        shelf: CatalogKey,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Shelf?) throws(CatalogError) -> Shelf
    ) async throws(CatalogError)
        -> Bool
    {
        try await shelfStore.update(shelf: shelf, in: store, change)
    }

    package func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError) {
        try await shelfStore.remove(shelf: shelf, from: store)
    }

    package func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Set<Int64>?,
        once call: IdempotentCall?
    )
        async throws(CatalogError) -> OrderEditOutcome
    {
        try await shelfStore.moveShelves(moves, in: store, expected: expected, once: call)
    }

    // MARK: - Products

    package func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct {
        try await productStore.product(store, sku)
    }

    package func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage {
        try await productStore.products(store, skus)
    }

    package func products(_ store: CatalogKey, after: Cursor?, limit: Int) async throws(CatalogError) -> ProductsPage {
        try await productStore.products(store, after: after, limit: limit)
    }

    package func update(
        _ sku: SKU,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Product?, Store) throws(CatalogError) -> Product
    ) async throws(CatalogError) -> Bool {
        try await productStore.update(sku, in: store, change)
    }

    package func remove(product: SKU, from store: CatalogKey) async throws(CatalogError) {
        try await productStore.remove(product: product, from: store)
    }

    package func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await productStore.place(sku, on: shelf, in: store)
    }

    package func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        try await productStore.unplace(sku, from: shelf, in: store)
    }

    // MARK: - Sorting

    package func current(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        try await pages.current(request)
    }

    // MARK: - ManualOrder

    package func editOrder(_ request: OrderEditRequest, once call: IdempotentCall?) async throws(CatalogError)
        -> OrderEditOutcome
    {
        try await orders.editOrder(request, once: call)
    }

    package func orderHistory(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> [OrderChange] {
        try await orders.orderHistory(store, shelf)
    }

    // MARK: - Purchases

    package func add(_ purchases: [Purchase], to store: CatalogKey, once call: IdempotentCall?)
        async throws(CatalogError) -> PurchaseOutcome
    {
        try await self.purchases.add(purchases, to: store, once: call)
    }

    // MARK: - Prices

    package func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> PriceOutcome {
        try await self.prices.setPrices(prices, in: store, pricedIn: currency, once: call)
    }

    package func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey] {
        try await prices.shelves(of: skus, in: store)
    }

    // MARK: - Settings

    package func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting {
        try await settingsStore.setting(key, of: user)
    }

    package func settings(of user: UserID, since: Int64?, limit: Int?) async throws(CatalogError) -> SettingsPage {
        try await settingsStore.settings(of: user, since: since, limit: limit)
    }

    package func rememberedViews(_ user: UserID, _ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError)
        -> RememberedViews
    {
        try await settingsStore.rememberedViews(user, store, shelf)
    }

    package func edit(_ edit: SettingsEdit, of user: UserID) async throws(CatalogError) -> [SettingsEdit.Result] {
        try await settingsStore.edit(edit, of: user)
    }

    // MARK: - Users

    package func merge(_ guest: UserID, into user: UserID, once call: IdempotentCall?) async throws(CatalogError)
        -> GuestMerge
    {
        try await users.merge(guest, into: user, once: call)
    }

    package func export(_ user: UserID, customer: String) async throws(CatalogError) -> UserExport {
        try await users.export(user, customer: customer)
    }

    package func erase(_ user: UserID, customer: String) async throws(CatalogError) {
        try await users.erase(user, customer: customer)
    }

    package func saveTicket(_ ticket: Ticket, id: UniqueID, once call: IdempotentCall?) async throws(CatalogError)
        -> IssuedTicket
    {
        try await users.saveTicket(ticket, id: id, once: call)
    }

    package func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket? {
        try await users.redeem(digest)
    }

    // MARK: - Lists

    package func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage {
        try await listStore.lists(of: user, by: sort, since: since)
    }

    package func list(_ id: UniqueID, of user: UserID, by sort: ListItemSort?) async throws(CatalogError) -> (
        ListMembership, ListFacts
    ) {
        try await listStore.list(id, of: user, by: sort)
    }

    package func createList(_ new: NewList, of user: UserID, once call: IdempotentCall?) async throws(CatalogError)
        -> ListDocument
    {
        try await listStore.createList(new, of: user, once: call)
    }

    package func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListDocument {
        try await listStore.editList(id, of: user, edit, expected: expected, once: call)
    }

    package func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError) {
        try await listStore.removeList(id, of: user, expected: expected)
    }

    package func moveLists(_ moves: [OrderMove], of user: UserID, once call: IdempotentCall?) async throws(CatalogError)
        -> ListMoveOutcome
    {
        try await listStore.moveLists(moves, of: user, once: call)
    }

    package func share(_ id: UniqueID, of user: UserID, _ share: ListShare, digest: [UInt8], once call: IdempotentCall?)
        async throws(CatalogError) -> IssuedShare
    {
        try await listStore.share(id, of: user, share, digest: digest, once: call)
    }

    package func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare] {
        try await listStore.shares(id, of: user)
    }

    package func revoke(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError) {
        try await listStore.revoke(share, id, of: user)
    }

    package func join(_ digest: [UInt8], of user: UserID, once call: IdempotentCall?) async throws(CatalogError)
        -> ListDocument
    {
        try await listStore.join(digest, of: user, once: call)
    }

    // MARK: - Live

    package func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        try await changeStore.versions(of: shelves)
    }

    package func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        try await changeStore.revisions(of: users)
    }

    package func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        try await changeStore.changes(of: user, since: since, limit: limit)
    }

    // MARK: - Audit

    package func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage {
        try await auditStore.audit(request)
    }

    // MARK: - Values

    package func firstResponse(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstResponse? {
        try await responses.firstResponse(key, in: store)
    }

    package func record(_ response: RecordedResponse, of call: IdempotentCall, in store: CatalogKey?)
        async throws(CatalogError)
    {
        try await responses.record(response, of: call, in: store)
    }

    package func firstResponse(_ key: String, of user: UserID) async throws(CatalogError) -> FirstResponse? {
        try await responses.firstResponse(key, of: user)
    }

    package func readiness() async -> Readiness { await database.readiness() }

    package var hasReplicas: Bool { database.replicas != nil }

    package func position() async throws(CatalogError) -> LogPosition { try await database.position() }

    // MARK: - Profiles of imports

    package func importProfiles() async throws(CatalogError) -> [SavedImportProfile] {
        try await importProfileStore.importProfiles()
    }

    package func importProfile(_ name: CatalogKey) async throws(CatalogError) -> SavedImportProfile {
        try await importProfileStore.importProfile(name)
    }

    package func put(importProfile document: String, _ name: CatalogKey) async throws(CatalogError) -> Bool {
        try await importProfileStore.put(importProfile: document, name)
    }

    package func remove(importProfile name: CatalogKey) async throws(CatalogError) {
        try await importProfileStore.remove(importProfile: name)
    }

    package func localTime(in timeZone: String) async throws(CatalogError) -> Timestamp? {
        try await importProfileStore.localTime(in: timeZone)
    }
}
