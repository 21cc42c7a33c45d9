internal import Catalog
internal import LibPQ

/// The mapping of a product row: SKU, selected columns and availability.
enum ProductRow {
    /// Returns the columns for `read`, of `placement`, or of `product` with an availability of 0.
    static func columns(_ table: SQL, availability: SQL? = nil) -> SQL {
        let selected = ProductColumn.read.map { "\(table).\($0.selection)" as SQL }.joined()
        return "\(table).sku, \(selected), \(availability ?? "\(table).availability")"
    }

    private static let availability = ProductColumn.read.count + 1
    /// The number of columns before the manual position, if it is selected.
    static let width = availability + 1

    static func read(_ row: borrowing PostgresRow) throws -> Product {
        var product = Product(sku: SKU(stored: try row.text(0)), name: "")
        for column in ProductColumn.read { try column.read(row, into: &product) }
        return product
    }

    /// Adds the product of a row, which is read only if it is needed.
    static func add(_ row: borrowing PostgresRow, to items: inout some PageItems) throws {
        let sku = SKU(stored: try row.text(0))
        let time = Timestamp(microseconds: try row.timestamptz(ProductColumn.modifiedAt.rawValue))
        let popularity = Popularity(log2: try row.float8(ProductColumn.popularityLog2.rawValue))
        if !items.addKnown(sku, modifiedAt: time, popularity: popularity) { items.add(try read(row)) }
    }

    static func listing(_ row: borrowing PostgresRow, hasPosition: Bool) throws -> Listing {
        Listing(
            product: try read(row),
            position: hasPosition ? try row.bytea(width) : [],
            isSoldOut: try row.int2(availability) == 1
        )
    }
}
