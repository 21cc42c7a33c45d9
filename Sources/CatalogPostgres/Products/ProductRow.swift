internal import Catalog
internal import LibPQ

/// The columns of a product, in the order in which they are read and written everywhere.
enum ProductRow {
    /// The columns that `product` and `placement` share, without the key.
    static let shared = [
        "name", "brand", "price_minor", "regular_price_minor", "size_amount", "size_unit", "size_packs", "size_drained",
        "size_approximate", "size_dimension", "base_quantity", "barcode", "image_url", "attributes", "in_stock", "tags",
        "popularity_log2", "created_at", "modified_at",
    ]

    /// What `read` expects, of `placement`, or of `product` with an availability of 0.
    static func columns(_ table: String, availability: String? = nil) -> String {
        let listed = [
            "sku", "name", "brand", "price_minor", "regular_price_minor", "size_amount::text", "size_unit",
            "size_packs",
            "size_drained::text", "size_approximate", "barcode", "image_url", "attributes::text", "in_stock", "tags",
            "popularity_log2", "created_at", "modified_at",
        ]
        return listed.map { "\(table).\($0)" }.joined(separator: ", ") + ", "
            + (availability ?? "\(table).availability")
    }

    /// The number of columns before a manual position, where one was selected.
    static let width = 19

    static func read(_ row: borrowing PostgresRow) throws -> Product {
        return Product(
            sku: SKU(stored: try row.text(0)),
            name: try row.text(1),
            brand: try row.textOrNil(2),
            priceMinor: try row.int8OrNil(3),
            regularPriceMinor: try row.int8OrNil(4),
            size: try size(row),
            barcode: try row.textOrNil(10),
            imageURL: try row.textOrNil(11),
            attributes: try row.text(12),
            popularity: Popularity(log2: try row.float8(15)),
            inStock: try row.bool(13),
            tags: try row.textArray(14),
            createdAt: Timestamp(microseconds: try row.timestamptz(16)),
            modifiedAt: Timestamp(microseconds: try row.timestamptz(17))
        )
    }

    static func listing(_ row: borrowing PostgresRow, hasPosition: Bool) throws -> Listing {
        Listing(
            product: try read(row),
            position: hasPosition ? try row.bytea(width) : [],
            isSoldOut: try row.int2(18) == 1
        )
    }

    private static func size(_ row: borrowing PostgresRow) throws -> Size? {
        guard let amount = try row.textOrNil(5) else { return nil }
        guard let amount = ExactDecimal(amount), let unit = MeasureUnit(rawValue: try row.text(6)) else {
            throw PostgresError(.decoding, "a stored size cannot be read")
        }
        return try Size(
            amount: amount,
            unit: unit,
            packs: Int(try row.int4(7)),
            drained: try row.textOrNil(8).flatMap { ExactDecimal($0) },
            isApproximate: try row.bool(9)
        )
    }

    /// A product's own columns as parameters $3… of `put`, behind store and sku.
    static func parameters(_ product: Product) -> [PostgresValue] {
        let size = product.size
        return [
            .text(product.name), .text(product.brand), .int8(product.priceMinor), .int8(product.regularPriceMinor),
            .numeric(size?.amount.description), .text(size?.unit.rawValue), .int4(size.map { Int32($0.packs) }),
            .numeric(size?.drained?.description), .bool(size?.isApproximate),
            .int2(size.map { Int16($0.unit.dimension.ordinal) }), .numeric(size?.baseQuantity.description),
            .text(product.barcode), .text(product.imageURL), .jsonb(product.attributes), .bool(product.inStock),
            .textArray(product.tags),
        ]
    }
}
