/// The storage of a catalog: one store per feature.
///
/// `InMemoryCatalog` is its specification, `PostgresCatalog` its implementation; both pass one conformance suite.
package struct CatalogStorage: Sendable {
    package let shelves: any ShelfStore
    package let products: any ProductStore
    package let pages: any PageStore
    package let manualOrder: any ManualOrderStore
    package let purchases: any PurchaseStore
    package let prices: any PriceStore
    package let settings: any SettingsStore
    package let users: any UserStore
    package let lists: any ListStore
    package let versions: any VersionStore
    package let responses: any ResponseStore
    package let importProfiles: any ImportProfileStore
    package let audit: any AuditStore
    package let readiness: any ReadinessSource
    package let states: any StateSource

    package init(
        shelves: any ShelfStore,
        products: any ProductStore,
        pages: any PageStore,
        manualOrder: any ManualOrderStore,
        purchases: any PurchaseStore,
        prices: any PriceStore,
        settings: any SettingsStore,
        users: any UserStore,
        lists: any ListStore,
        versions: any VersionStore,
        responses: any ResponseStore,
        importProfiles: any ImportProfileStore,
        audit: any AuditStore,
        readiness: any ReadinessSource,
        states: any StateSource
    ) {
        self.shelves = shelves
        self.products = products
        self.pages = pages
        self.manualOrder = manualOrder
        self.purchases = purchases
        self.prices = prices
        self.settings = settings
        self.users = users
        self.lists = lists
        self.versions = versions
        self.responses = responses
        self.importProfiles = importProfiles
        self.audit = audit
        self.readiness = readiness
        self.states = states
    }
}
