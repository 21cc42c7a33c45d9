internal import Catalog
internal import LibPQ

/// The mapping of a product row: its SKU and selected columns.
enum ProductRow {
    /// Returns the columns for `read`, of `product`.
    ///
    /// - Parameter placement: the alias of the product's placement, whose score counts on its shelf.
    static func columns(_ product: SQL, on placement: SQL? = nil) -> SQL {
        let selected = ProductColumn.read.map { column -> SQL in
            let table = column == .popularityLog2 ? placement ?? product : product
            return "\(table).\(column.selection)"
        }
        return "\(product).sku, \(selected.joined())"
    }

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
}
