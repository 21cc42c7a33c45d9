internal import LibPQ
internal import Shelves

/// The statements that read shelves into memory. `$1` is the store id, `$2` the shelf id.
enum ShelfReadStatements {
    /// The columns of a product `r`, its placement `p` and its position `o`, in the order of `ShelfReader`.
    private static let columns: SQL = """
        r.name, r.name_key, r.brand, r.brand_key, r.tags, r.price_minor, r.base_quantity::text, r.size_dimension, p.popularity_log2, \
        r.in_stock, r.created_at, r.modified_at, o.key, r.regular_price_minor, r.size_amount::text, r.size_unit, r.size_packs, \
        r.size_drained::text, r.size_approximate, r.image_url, r.attributes::text, \(texts)
        """

    private static let texts = ProductDetails.texts.map { ProductColumn.text($0) }.names(in: "r")
    /// The first of the columns of `ProductDetails.texts`.
    static let firstText = 23
    private static let language = ShelfRow.language(ofStore: "$1")
    /// The column of the language in all rows.
    static let languageColumn = firstText + ProductDetails.texts.count
    /// The column of the image in the rows of `latest`.
    static let imageColumn = languageColumn + 1

    /// Returns a query for placements `p`, with their products and positions. Each of these is looked up by its key: the planner may expect few
    /// rows in a store, and would read all of them.
    ///
    /// - Parameters:
    ///   - selection: the columns to read.
    ///   - condition: determines the placements. OFFSET 0 keeps them from being joined otherwise.
    private static func placements(_ selection: SQL, where condition: SQL) -> SQL {
        """
        SELECT \(selection) FROM placement p CROSS JOIN LATERAL (\(product)) r
        CROSS JOIN LATERAL (
            SELECT q.key FROM placement_position q
            WHERE \(PlacementStatements.key("q", store: "$1", shelf: "$2", sku: "p.sku")) OFFSET 0) o
        WHERE \(condition) OFFSET 0
        """
    }

    /// The product of a placement `p`.
    private static let product: SQL = "SELECT q.* FROM product q WHERE q.store_id = $1 AND q.sku = p.sku OFFSET 0"

    /// A condition for the placement of a product `n`.
    private static let ofProduct = PlacementStatements.key("p", store: "$1", shelf: "$2", sku: "n.sku")

    /// The version of a shelf and all its products: one row without a product if there are none.
    static let whole: PostgresStatement = """
        SELECT h.version, x.*, \(language) FROM shelf h
        LEFT JOIN LATERAL (\(placements("p.sku, \(columns)", where: "p.store_id = $1 AND p.shelf_id = $2"))) x ON true
        WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        """

    /// The products `$3`, with nulls for those that are not on the shelf.
    static let some: PostgresStatement = """
        SELECT 0::bigint, n.sku, x.*, \(language) FROM unnest($3::text[]) AS n (sku)
        LEFT JOIN LATERAL (\(placements(columns, where: ofProduct))) x ON true
        """

    /// The ordering key of a product, `$3`, in the manual order, which it keeps when it leaves the shelf.
    static let position: PostgresStatement = """
        SELECT key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND sku = $3
        """

    /// The number of versions beyond which a shelf is read as a whole.
    private static let longestChain: SQL = "1000"

    /// A condition for a shelf `h` whose changes since a version are all recorded, and not too many.
    private static func isRecorded(since version: SQL) -> SQL {
        """
        (h.version = \(version) OR (SELECT bool_and(c.previous_version = c.before) AND max(c.version) = h.version FROM (
            SELECT version, previous_version, lag(version, 1, \(version)) OVER (ORDER BY version) AS before
            FROM shelf_change WHERE store_id = $1 AND shelf_id = $2 AND version > \(version)
            ORDER BY version LIMIT \(longestChain)) c))
        """
    }

    /// The products that changed since a version.
    private static func changed(since version: SQL) -> SQL {
        """
        SELECT DISTINCT unnest(c.skus) AS sku FROM shelf_change c
        WHERE c.store_id = $1 AND c.shelf_id = $2 AND c.version > \(version)
        """
    }

    /// The changes from version `$3` of a shelf to the current one: a row without a sku, and a row for each changed product. A product
    /// that is no longer on the shelf has nulls. If changes are missing or too many, the first row has the image of format `$4`. The
    /// other rows are then the changes after the image. No row if neither is possible.
    static let latest: PostgresStatement = """
        SELECT h.version, n.sku, x.*, \(language), CASE WHEN n.sku IS NULL THEN b.image END
        FROM shelf h
        CROSS JOIN LATERAL (
            SELECT $3::bigint AS version, NULL::bytea AS image WHERE \(isRecorded(since: "$3::bigint"))
            UNION ALL
            SELECT i.version, i.image FROM shelf_image i WHERE i.store_id = $1 AND i.shelf_id = $2 AND i.format = $4
                AND \(isRecorded(since: "i.version"))
            LIMIT 1) b
        CROSS JOIN LATERAL (SELECT NULL AS sku UNION ALL (\(changed(since: "b.version")))) n
        LEFT JOIN LATERAL (\(placements(columns, where: ofProduct))) x ON true
        WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        """
}
