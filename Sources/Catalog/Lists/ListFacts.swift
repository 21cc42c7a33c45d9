/// The catalog data needed to sort and show a list: products, aisles and collation ranks.
package struct ListFacts: Sendable {
    /// The products that exist.
    package var products: [ProductReference: (store: Store, product: Product)] = [:]
    /// Each product's place along the store's shelves, from the entrance; absent for products on no shelf.
    package var aisles: [ProductReference: Int] = [:]
    /// The rank of each compared text in the catalog's collation.
    package var ranks: [String: Int] = [:]

    package init() {}

    /// Returns an item's display name.
    package func name(of item: ListItem) -> String {
        item.product.flatMap { products[$0]?.product.name } ?? item.text
    }
}
