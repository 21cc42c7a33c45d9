/// A small catalog of our own making, embedded in the program: two stores that show every case of sorting.
package enum SeedData {
    /// Products as a CSV file in canonical columns.
    package static let products = PackageResources.products_csv
}
