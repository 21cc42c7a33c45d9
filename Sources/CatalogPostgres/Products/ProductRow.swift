internal import Catalog
internal import LibPQ

/// A product as a row: the SKU, the columns that are read, and the availability.
enum ProductRow {
    /// What `read` expects, of `placement`, or of `product` with an availability of 0.
    static func columns(_ table: SQL, availability: SQL? = nil) -> SQL {
        let selected = ProductColumn.read.map { "\(table).\($0.selection)" as SQL }.joined()
        return "\(table).sku, \(selected), \(availability ?? "\(table).availability")"
    }

    private static let availability = ProductColumn.read.count + 1
    /// The number of columns before a manual position, where one was selected.
    static let width = availability + 1

    static func read(_ row: borrowing PostgresRow) throws -> Product {
        Product(
            sku: SKU(stored: try row.text(0)),
            name: try row.text(.name),
            brand: try row.textOrNil(.brand),
            priceMinor: try row.int8OrNil(.priceMinor),
            regularPriceMinor: try row.int8OrNil(.regularPriceMinor),
            size: try size(row),
            barcode: try row.textOrNil(.barcode),
            imageURL: try row.textOrNil(.imageURL),
            attributes: try row.text(.attributes),
            popularity: Popularity(log2: try row.float8(ProductColumn.popularityLog2.rawValue)),
            inStock: try row.bool(.inStock),
            tags: try row.textArray(ProductColumn.tags.rawValue),
            createdAt: try row.timestamp(.createdAt),
            modifiedAt: try row.timestamp(.modifiedAt)
        )
    }

    static func listing(_ row: borrowing PostgresRow, hasPosition: Bool) throws -> Listing {
        Listing(
            product: try read(row),
            position: hasPosition ? try row.bytea(width) : [],
            isSoldOut: try row.int2(availability) == 1
        )
    }

    private static func size(_ row: borrowing PostgresRow) throws -> Size? {
        guard let amount = try row.textOrNil(.sizeAmount) else { return nil }
        guard let amount = ExactDecimal(amount), let unit = MeasureUnit(rawValue: try row.text(.sizeUnit)) else {
            throw PostgresError(.decoding, "a stored size cannot be read")
        }
        return try Size(
            amount: amount,
            unit: unit,
            packs: Int(try row.int4(ProductColumn.sizePacks.rawValue)),
            drained: try row.textOrNil(.sizeDrained).flatMap { ExactDecimal($0) },
            isApproximate: try row.bool(.sizeApproximate)
        )
    }
}

extension PostgresRow {
    fileprivate func text(_ column: ProductColumn) throws -> String { try text(column.rawValue) }
    fileprivate func textOrNil(_ column: ProductColumn) throws -> String? {
        try textOrNil(column.rawValue)
    }
    fileprivate func int8OrNil(_ column: ProductColumn) throws -> Int64? {
        try int8OrNil(column.rawValue)
    }
    fileprivate func bool(_ column: ProductColumn) throws -> Bool { try bool(column.rawValue) }
    fileprivate func timestamp(_ column: ProductColumn) throws -> Timestamp {
        Timestamp(microseconds: try timestamptz(column.rawValue))
    }
}
