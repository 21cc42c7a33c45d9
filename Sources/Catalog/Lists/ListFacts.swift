/// What the catalog knows of the products on a list, and how texts compare.
package struct ListFacts: Sendable {
    /// Those that exist.
    package var products: [ProductReference: (store: Store, product: Product)] = [:]
    /// Where one comes by them in the store, counted from its entrance; none for what stands on no shelf.
    package var aisles: [ProductReference: Int] = [:]
    /// The place of each text among all that are compared, in the catalog's collation.
    package var ranks: [String: Int] = [:]

    package init() {}

    /// What an item is called.
    package func name(of item: ListItem) -> String {
        item.product.flatMap { products[$0]?.product.name } ?? item.text
    }
}
