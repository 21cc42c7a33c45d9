/// A small catalog of our own making, embedded in the program: two stores that show every case of sorting.
package enum SeedData {
    /// Key, title, currency and rules of unit prices of each store.
    package static let stores = [
        ("corner", "Corner Market", "EUR", "eu"),
        ("harbour", "Hamnboden", "SEK", "se"),
    ]

    /// Products as a CSV file in canonical columns.
    package static let products = PackageResources.products_csv
}
