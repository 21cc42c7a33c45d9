/// A small catalog of our own making, embedded in the program: two stores that show every case of sorting, and a week of
/// their prices.
package enum SeedData {
    /// Key, title, currency, locale and rules of unit prices of each store.
    package static let stores = [
        ("corner", "Corner Market", "EUR", "en-IE", "eu"),
        ("harbour", "Hamnboden", "SEK", "sv-SE", "se"),
    ]

    /// Products as a CSV file in canonical columns.
    package static let products = PackageResources.products_csv

    /// Prices that change, day by day, as a CSV file of date, store, sku and price; the last day's are the first again.
    package static let priceChanges = PackageResources.price_changes_csv
}
