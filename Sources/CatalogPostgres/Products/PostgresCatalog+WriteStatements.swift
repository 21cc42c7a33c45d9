internal import LibPQ

extension PostgresCatalog {
    static let lockedStore = PostgresStatement(
        assembled: "SELECT \(ShelfRow.storeColumns) FROM store s WHERE s.key = $1 FOR NO KEY UPDATE"
    )
    /// Held against who changes it, or counts all its products.
    static let sharedStore = PostgresStatement(
        assembled: "SELECT \(ShelfRow.storeColumns) FROM store s WHERE s.key = $1 FOR SHARE"
    )
    /// Held against all who write its products too.
    static let heldStore = PostgresStatement(
        assembled: "SELECT \(ShelfRow.storeColumns) FROM store s WHERE s.key = $1 FOR UPDATE"
    )
    static let keyOfStore = PostgresStatement(
        assembled: "SELECT \(ShelfRow.storeColumns) FROM store s WHERE s.key = $1 FOR KEY SHARE"
    )
    static let insertStore: PostgresStatement = """
        INSERT INTO store (key, title, currency, locale, unit_pricing, sold_out, default_sort, popularity_metric,
            popularity_half_life_days, newcomer_boost, counted_metric, counted_half_life_days, counted_newcomer_boost)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $8, $9, $10)
        """
    static let updateStore: PostgresStatement = """
        UPDATE store SET title = $2, currency = $3, locale = $4, unit_pricing = $5, sold_out = $6, default_sort = $7,
            popularity_metric = $8, popularity_half_life_days = $9, newcomer_boost = $10, version = version + 1
        WHERE key = $1
        """
    static let insertShelf: PostgresStatement = """
        INSERT INTO shelf (store_id, key, title, parent_id, default_sort, dimension, sold_out, position_source, position,
            modified_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())
        """
    static let updateShelf: PostgresStatement = """
        UPDATE shelf SET title = $3, parent_id = $4, default_sort = $5, dimension = $6, sold_out = $7,
            position_source = $8, modified_at = now(), version = version + 1, deleted_at = NULL
        WHERE store_id = $1 AND key = $2 AND (
            (title, parent_id, default_sort, dimension, sold_out, position_source)
                IS DISTINCT FROM ($3, $4, $5, $6, $7, $8) OR deleted_at IS NOT NULL)
        """
    static let upsertProduct: PostgresStatement = """
        INSERT INTO product (store_id, sku, name, brand, price_minor, regular_price_minor, size_amount, size_unit,
            size_packs, size_drained, size_approximate, size_dimension, base_quantity, barcode, image_url, attributes,
            in_stock, tags, popularity_log2, created_at, modified_at)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            CASE WHEN s.counted_metric = 'decay' THEN popularity_sum('-Infinity', '-Infinity', popularity_on(
                s.counted_newcomer_boost, (now() AT TIME ZONE 'UTC')::date, s.counted_half_life_days))
            WHEN s.counted_newcomer_boost > 0 THEN popularity_sum('-Infinity', '-Infinity',
                ln(s.counted_newcomer_boost) / ln(2::double precision)) ELSE '-Infinity' END, now(), now()
        FROM store s WHERE s.store_id = $1
        ON CONFLICT (store_id, sku) DO UPDATE SET
            (name, brand, price_minor, regular_price_minor, size_amount, size_unit, size_packs, size_drained,
            size_approximate, size_dimension, base_quantity, barcode, image_url, attributes, in_stock, tags, modified_at)
            = (excluded.name, excluded.brand, excluded.price_minor, excluded.regular_price_minor, excluded.size_amount,
            excluded.size_unit, excluded.size_packs, excluded.size_drained, excluded.size_approximate,
            excluded.size_dimension, excluded.base_quantity, excluded.barcode, excluded.image_url, excluded.attributes,
            excluded.in_stock, excluded.tags, now())
        WHERE (product.name, product.brand, product.price_minor, product.regular_price_minor, product.size_amount,
            product.size_unit, product.size_packs, product.size_drained, product.size_approximate, product.barcode,
            product.image_url, product.attributes, product.in_stock, product.tags)
            IS DISTINCT FROM (excluded.name, excluded.brand, excluded.price_minor, excluded.regular_price_minor,
            excluded.size_amount, excluded.size_unit, excluded.size_packs, excluded.size_drained,
            excluded.size_approximate, excluded.barcode, excluded.image_url, excluded.attributes, excluded.in_stock,
            excluded.tags)
        """

    /// 1 where a product is sold out and its shelf sorts such products last.
    static let availability = """
        CASE WHEN r.in_stock OR coalesce(h.sold_out, s.sold_out) = 'mixed' THEN 0::smallint ELSE 1::smallint END
        """

    private static let assignments = ProductRow.shared.map { "\($0) = r.\($0)" }.joined(separator: ", ")

    /// Carries a product's columns to its placements.
    static let syncPlacements = PostgresStatement(
        assembled: """
            UPDATE placement p SET availability = \(availability), \(assignments)
            FROM product r, shelf h, store s
            WHERE p.store_id = $1 AND p.sku = $2 AND r.store_id = $1 AND r.sku = $2
                AND h.store_id = $1 AND h.shelf_id = p.shelf_id AND s.store_id = $1
            """
    )
    static let insertPlacement = PostgresStatement(
        assembled: """
            INSERT INTO placement (store_id, shelf_id, sku, availability, \(ProductRow.shared.joined(separator: ", ")))
            SELECT r.store_id, h.shelf_id, r.sku, \(availability), \(ProductRow.shared.map { "r.\($0)" }.joined(separator: ", "))
            FROM product r, shelf h, store s
            WHERE r.store_id = $1 AND r.sku = $3 AND h.store_id = $1 AND h.shelf_id = $2 AND s.store_id = $1
            ON CONFLICT (store_id, shelf_id, sku) DO NOTHING
            """
    )
    /// Follows a change of where sold-out products stand, in a store.
    static let realignStore = realignment("")
    /// The same on one shelf, `$2`.
    static let realignShelf = realignment(" AND r.shelf_id = $2")

    private static func realignment(_ scope: String) -> PostgresStatement {
        PostgresStatement(
            assembled: """
                UPDATE placement r SET availability = \(availability) FROM shelf h, store s
                WHERE r.store_id = $1\(scope) AND h.store_id = $1 AND h.shelf_id = r.shelf_id
                    AND s.store_id = $1 AND r.availability <> \(availability)
                """
        )
    }
}
