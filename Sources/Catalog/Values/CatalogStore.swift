/// The storage of a catalog, with one protocol per feature.
///
/// `InMemoryCatalog` is its specification, `PostgresCatalog` its implementation; both pass one conformance suite.
package protocol CatalogStore: ShelfStore, ProductStore, PageStore, OrderStore, PurchaseStore, PriceStore,
    SettingsStore, UserStore, ListStore, ChangeStore, ResponseStore, ImportProfileStore,
    AuditStore, ReadinessSource, PositionSource
{}
