/// The catalog data needed to sort and show a list: products, aisles and the ranks of names.
package struct ListFacts: Sendable {
    /// The products that exist.
    package var products: [ProductReference: (store: Store, product: Product)] = [:]
    /// Each product's place along the store's shelves, from the entrance; absent for products on no shelf.
    package var aisles: [ProductReference: Int] = [:]
    /// The rank of each compared text in `language`.
    package var ranks: [String: Int] = [:]

    package init() {}

    /// The language by whose rules names are ordered: that of the store with most of the products, the first one by key if several have as
    /// many; `root` without products.
    package var language: String {
        var counts: [CatalogKey: (count: Int, language: String)] = [:]
        for (store, _) in products.values { counts[store.key, default: (0, store.language)].count += 1 }
        let most = counts.max { a, b in (a.value.count, b.key) < (b.value.count, a.key) }
        return most?.value.language ?? Store.languageOfNoStore
    }

    /// Returns an item's display name.
    package func name(of item: ListItem) -> String {
        item.product.flatMap { products[$0]?.product.name } ?? item.text
    }
}
