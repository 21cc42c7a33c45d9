/// Everything that is stored: one protocol per feature.
///
/// `InMemoryCatalog` specifies it, `PostgresCatalog` serves it; one conformance suite holds for both.
package protocol CatalogStore: ShelfStore, ProductStore, PageStore, DiffStore, OrderStore, PurchaseStore, PriceStore,
    SettingsStore, UserStore, ListStore, ChangeStore, ResponseStore
{
    /// Returns what can be served now. A database with another schema is unavailable.
    func readiness() async -> Readiness
}
