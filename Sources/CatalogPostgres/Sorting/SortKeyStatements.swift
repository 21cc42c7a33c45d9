internal import Catalog
internal import Collation
internal import LibPQ

/// The statements of sort keys. `$1` is the store id, unless noted.
///
/// Texts have a fixed collation here: a migration changes that of the columns, and a prepared statement keeps the types of its result.
enum SortKeyStatements {
    /// The language of a store. The first keys are computed before the column of languages exists.
    static let language: PostgresStatement = """
        SELECT coalesce(to_jsonb(s) ->> 'sort_language', s.locale) FROM store s WHERE s.store_id = $1
        """
    /// The version of the collator that computed the keys of all products and shelves.
    static let version: PostgresStatement = "SELECT collator FROM deployment WHERE deployment_id = 1"
    /// Records the version, `$1`.
    static let setVersion: PostgresStatement = "UPDATE deployment SET collator = $1 WHERE deployment_id = 1"
    /// The ids of all stores.
    static let stores: PostgresStatement = "SELECT store_id FROM store ORDER BY store_id"
    /// At most `$3` products after `$2`, with their names, brands and keys.
    static let productsAfter: PostgresStatement = """
        SELECT sku, name COLLATE "C", brand COLLATE "C", \(SortKeys.columns) FROM product WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $3
        """
    /// The names and brands of products, `$2`.
    static let texts: PostgresStatement = """
        SELECT sku, name COLLATE "C", brand COLLATE "C" FROM product WHERE store_id = $1 AND sku = ANY ($2)
        """
    /// The shelves of a store, also deleted ones, with their titles and keys.
    static let titles: PostgresStatement = """
        SELECT shelf_id, title COLLATE "C", title_key FROM shelf WHERE store_id = $1
        """
    /// Writes the keys of the titles of shelves, `$2`: `$3`.
    static let writeTitles: PostgresStatement = """
        UPDATE shelf h SET title_key = n.title_key FROM unnest($2::bigint[], $3::bytea[]) AS n (shelf_id, title_key)
        WHERE h.store_id = $1 AND h.shelf_id = n.shelf_id
        """
    /// Writes the keys of products, `$2`: those of names, `$3`, and of brands, `$4`.
    static let write: PostgresStatement = """
        UPDATE product r SET name_key = n.name_key, brand_key = n.brand_key
        FROM unnest($2::text[], $3::bytea[], $4::bytea[]) AS n (sku, name_key, brand_key)
        WHERE r.store_id = $1 AND r.sku = n.sku
        """
}

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
