internal import Catalog
internal import Collation
internal import LibPQ

/// The sort keys of a product's name and brand: compared byte by byte, they have the order of the store's language.
struct SortKeys: Equatable, Sendable {
    let name: [UInt8]
    /// Nil without a brand.
    let brand: [UInt8]?

    init(name: [UInt8], brand: [UInt8]?) { (self.name, self.brand) = (name, brand) }

    /// - Complexity: O(*n*) for *n* bytes; some microseconds.
    init(name: String, brand: String?, _ collator: LanguageCollator) {
        self.init(name: collator.key(name), brand: brand.map(collator.key))
    }

    init(of product: Product, _ collator: LanguageCollator) {
        self.init(name: product.name, brand: product.brand, collator)
    }

    init(of product: Product, in language: String) { self.init(of: product, .of(language)) }

    /// The columns of `product` and `import_row`, in the order of `values`.
    static let columns: SQL = "name_key, brand_key"

    var values: [PostgresValue] { [.bytea(name), .bytea(brand)] }
}
