internal import Catalog
internal import LibPQ

/// The mapping of a product row: its SKU and selected columns.
enum ProductRow {
    /// Returns the columns for `read`, of `product`.
    static func columns(_ product: SQL) -> SQL {
        "\(product).sku, \(ProductColumn.read.map { "\(product).\($0.selection)" as SQL }.joined())"
    }

    static func read(_ row: borrowing PostgresRow) throws -> Product {
        var product = Product(sku: SKU(stored: try row.text(0)), name: "")
        for column in ProductColumn.read { try column.read(row, into: &product) }
        return product
    }
}
