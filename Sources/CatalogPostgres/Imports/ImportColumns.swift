internal import Catalog

/// Which columns of a product an import writes: those that its file has. The others stay as they are.
struct ImportColumns: Sendable {
    /// What is compared: the columns that differ when something changed.
    let compared: [String]
    /// What is written: these, and those that follow from them.
    let written: [String]
    let hasPopularity: Bool

    init(_ columns: Set<ImportColumn>, readsSizeFromName: Bool) {
        var compared = ["name"]
        var derived: [String] = []
        if columns.contains(.brand) { compared.append("brand") }
        if columns.contains(.price) || columns.contains(.promoPrice) {
            compared += ["price_minor", "regular_price_minor"]
        }
        if columns.contains(.size) || readsSizeFromName {
            compared += ["size_amount", "size_unit", "size_packs", "size_drained", "size_approximate"]
            derived += ["size_dimension", "base_quantity"]
        }
        if columns.contains(.barcode) { compared.append("barcode") }
        if columns.contains(.imageURL) { compared.append("image_url") }
        if columns.contains(.inStock) { compared.append("in_stock") }
        if columns.contains(.tags) { compared.append("tags") }
        hasPopularity = columns.contains(.popularity)
        self.written = compared + derived
        self.compared = compared + (hasPopularity ? ["popularity_seed"] : [])
    }

    /// A row of the compared columns of a table.
    func row(_ table: String) -> String { "(" + compared.map { "\(table).\($0)" }.joined(separator: ", ") + ")" }

    /// The columns of `import_row` that COPY fills, in order.
    static let staged = [
        "import_id", "line", "store_key", "shelf_key", "sku", "name", "brand", "price_minor", "regular_price_minor",
        "size_amount", "size_unit", "size_packs", "size_drained", "size_approximate", "size_dimension", "base_quantity",
        "barcode", "image_url", "in_stock", "tags", "popularity_seed", "position_numerator", "position_denominator",
    ]
}
