internal import Catalog
internal import CatalogJSON
internal import JSON

/// The products of a store in the output of commands.
struct ProductListing {
    /// The search that found the products; nil without one.
    var search: SearchSummary?
    /// The number of all products that a search finds; nil without one.
    var total: Int?
    /// Whether a table shows the barcodes.
    var hasBarcodes = false
    /// Whether other products of the listing are already printed, in lines.
    var isContinued = false

    /// Prints the products as JSON in the format of the API, or as a table of what people compare.
    func print(_ products: [Product], of store: Store, _ format: OutputFormat) {
        let presentation = ProductPresentation(store: store)
        switch format {
        case .json:
            var json = JSONWriter()
            if let search {
                json.object { json in
                    search.write(to: &json)
                    if let total { json.field("total", total) }
                    json.array("products", products) { presentation.write($1, to: &$0) }
                }
            } else {
                json.array(products) { presentation.write($1, to: &$0) }
            }
            Console.line(json.text)
        case .ndjson:
            for product in products {
                var json = JSONWriter()
                presentation.write(product, to: &json)
                Console.line(json.text)
            }
        case .table, .tsv, .csv: table(products, of: store, presentation).print(format)
        }
    }

    private func table(_ products: [Product], of store: Store, _ presentation: ProductPresentation) -> Table {
        var columns: [Table.Column] = [
            .init(title: "sku"), .init(title: "name"), .init(title: "brand"), .init(title: "price", isNumber: true),
            .init(title: "unit_price", isNumber: true), .init(title: "size", isNumber: true),
            .init(title: "popularity", isNumber: true), .init(title: "in_stock"),
        ]
        if hasBarcodes { columns.append(.init(title: "barcode")) }
        var table = Table(columns: columns, hasTitles: !isContinued)
        for product in products {
            let unitPrice = store.unitPricing.display(
                priceMinor: product.priceMinor,
                size: product.size,
                currency: store.currency
            )
            let size = product.size.map { ($0.packs > 1 ? "\($0.packs) × " : "") + "\($0.amount) \($0.unit.rawValue)" }
            var row = [
                product.sku.text, product.name, product.brand,
                product.priceMinor.map { "\(store.currency.decimal($0)) \(store.currency.code)" },
                unitPrice.map { "\($0.value)/\($0.per)" }, size, "\(presentation.score(product.popularity))",
                product.inStock ? "yes" : "no",
            ]
            if hasBarcodes { row.append(product.barcode) }
            table.rows.append(row)
        }
        return table
    }
}
