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
        var product = Product(sku: SKU(stored: try row.text(0)), name: "")
        for column in ProductColumn.read { try column.read(row, into: &product) }
        return product
    }

    static func listing(_ row: borrowing PostgresRow, hasPosition: Bool) throws -> Listing {
        Listing(
            product: try read(row),
            position: hasPosition ? try row.bytea(width) : [],
            isSoldOut: try row.int2(availability) == 1
        )
    }
}
