internal import Catalog
internal import LibPQ

/// A column of `product`. Reading, writing, importing and generating products are all derived from this enum.
enum ProductColumn: Hashable, Sendable {
    case name, priceMinor, regularPriceMinor, sizeAmount, sizeUnit, sizePacks, sizeDrained, sizeApproximate
    case attributes, inStock, tags, popularityLog2, createdAt, modifiedAt
    case sizeDimension, baseQuantity
    case text(ProductText)

    /// The column's name.
    var name: SQL {
        switch self {
        case .name: "name"
        case .priceMinor: "price_minor"
        case .regularPriceMinor: "regular_price_minor"
        case .sizeAmount: "size_amount"
        case .sizeUnit: "size_unit"
        case .sizePacks: "size_packs"
        case .sizeDrained: "size_drained"
        case .sizeApproximate: "size_approximate"
        case .attributes: "attributes"
        case .inStock: "in_stock"
        case .tags: "tags"
        case .popularityLog2: "popularity_log2"
        case .createdAt: "created_at"
        case .modifiedAt: "modified_at"
        case .sizeDimension: "size_dimension"
        case .baseQuantity: "base_quantity"
        // The name in JSON is a word of SQL.
        case .text(.group): "product_group"
        case .text(let text): SQL(stringLiteral: text.name)
        }
    }

    /// Whether the column is derived from others: it is written, but neither compared nor read.
    var isDerived: Bool { self == .sizeDimension || self == .baseQuantity }

    /// The expression that reads the column.
    var selection: SQL {
        switch self {
        case .sizeAmount, .sizeDrained, .attributes: "\(name)::text"
        default: name
        }
    }

    /// A product's value for the column.
    func value(of product: Product) -> PostgresValue {
        let size = product.size
        return switch self {
        case .name: .text(product.name)
        case .priceMinor: .int8(product.priceMinor)
        case .regularPriceMinor: .int8(product.regularPriceMinor)
        case .sizeAmount: .numeric(size?.amount.description)
        case .sizeUnit: .text(size?.unit.rawValue)
        case .sizePacks: .int4(size.map { Int32($0.packs) })
        case .sizeDrained: .numeric(size?.drained?.description)
        case .sizeApproximate: .bool(size?.isApproximate)
        case .text(let text): .text(product[text])
        case .attributes: .jsonb(product.attributes)
        case .inStock: .bool(product.inStock)
        case .tags: .textArray(product.tags)
        case .sizeDimension: .int2(size.map { Int16($0.unit.dimension.ordinal) })
        case .baseQuantity: .numeric(size?.baseQuantity.description)
        case .popularityLog2: .float8(product.popularity.log2)
        case .createdAt: .timestamptz(product.createdAt.microseconds)
        case .modifiedAt: .timestamptz(product.modifiedAt.microseconds)
        }
    }

    /// Reads the column from a row that has the columns of `read`.
    ///
    /// - Parameter index: the index of the column in the row.
    func read(_ row: borrowing PostgresRow, _ index: Int, into product: inout Product) throws {
        switch self {
        case .name: product.name = try row.text(index)
        case .priceMinor: product.priceMinor = try row.int8OrNil(index)
        case .regularPriceMinor: product.regularPriceMinor = try row.int8OrNil(index)
        case .sizeAmount: product.size = try Self.size(row, index)
        // Read with the amount.
        case .sizeUnit, .sizePacks, .sizeDrained, .sizeApproximate: break
        case .text(let text): product[text] = try row.textOrNil(index)
        case .attributes: product.attributes = try row.text(index)
        case .inStock: product.inStock = try row.bool(index)
        case .tags: product.tags = try row.textArray(index)
        case .popularityLog2: product.popularity = Popularity(log2: try row.float8(index))
        case .createdAt: product.createdAt = Timestamp(microseconds: try row.timestamptz(index))
        case .modifiedAt: product.modifiedAt = Timestamp(microseconds: try row.timestamptz(index))
        // Derived from the size.
        case .sizeDimension, .baseQuantity: break
        }
    }

    /// Reads a size, whose columns follow its amount.
    private static func size(_ row: borrowing PostgresRow, _ index: Int) throws -> Size? {
        guard let amount = try row.textOrNil(index) else { return nil }
        let unit = MeasureUnit(rawValue: try row.text(index + 1))
        guard let amount = ExactDecimal(amount), let unit else {
            throw PostgresError(.decoding, "invalid stored size")
        }
        return try Size(
            amount: amount,
            unit: unit,
            packs: Int(try row.int4(index + 2)),
            drained: try row.textOrNil(index + 3).flatMap { ExactDecimal($0) },
            isApproximate: try row.bool(index + 4)
        )
    }

    /// Whether requests and imports set the column; otherwise the server does.
    var isProvided: Bool {
        switch self {
        case .popularityLog2, .createdAt, .modifiedAt: false
        default: true
        }
    }

    /// The import file column that an import needs to write this column; nil if imports never write it.
    var imported: ImportColumn? {
        switch self {
        case .name: .name
        // A promotional price requires a price.
        case .priceMinor, .regularPriceMinor: .price
        case .sizeAmount, .sizeUnit, .sizePacks, .sizeDrained, .sizeApproximate, .sizeDimension, .baseQuantity: .size
        case .text(let text): text.column
        case .inStock: .inStock
        case .tags: .tags
        case .attributes: .attributes
        case .popularityLog2, .createdAt, .modifiedAt: nil
        }
    }

    /// The columns that are read, in order.
    static let read: [ProductColumn] = ProductField.allCases.flatMap(\.columns)
    /// All columns, in order; those that are derived come last.
    static let allCases: [ProductColumn] = read + [.sizeDimension, .baseQuantity]
    /// The columns that requests and imports set, in order.
    static let provided = allCases.filter(\.isProvided)
    /// The columns that an import stages, in order.
    static let staged = allCases.filter { $0.imported != nil }
}

extension ProductField {
    /// The columns that are read for the field, in order.
    fileprivate var columns: [ProductColumn] {
        switch self {
        case .name: [.name]
        case .priceMinor: [.priceMinor]
        case .regularPriceMinor: [.regularPriceMinor]
        case .size: [.sizeAmount, .sizeUnit, .sizePacks, .sizeDrained, .sizeApproximate]
        case .text(let text): [.text(text)]
        case .attributes: [.attributes]
        case .popularity: [.popularityLog2]
        case .inStock: [.inStock]
        case .tags: [.tags]
        case .createdAt: [.createdAt]
        case .modifiedAt: [.modifiedAt]
        // The key of the row; values of other tables, or of other columns.
        case .sku, .currency, .unitPrice, .asOf, .shelves: []
        }
    }
}

extension Sequence<ProductColumn> {
    /// The names, separated by commas.
    var names: SQL { map(\.name).joined() }

    /// The names in a table, separated by commas.
    func names(in table: SQL) -> SQL { map { "\(table).\($0.name)" as SQL }.joined() }

    /// SET assignments that copy each column from a table.
    func assignments(from table: SQL) -> SQL { map { "\($0.name) = \(table).\($0.name)" as SQL }.joined() }
}

/// The mapping of a product row: its SKU and selected columns.
enum ProductRow {
    /// Returns the columns for `read`, of `product`.
    static func columns(_ product: SQL) -> SQL {
        "\(product).sku, \(ProductColumn.read.map { "\(product).\($0.selection)" as SQL }.joined())"
    }

    static func read(_ row: borrowing PostgresRow) throws -> Product {
        var product = Product(sku: SKU(stored: try row.text(0)), name: "")
        for (offset, column) in ProductColumn.read.enumerated() { try column.read(row, offset + 1, into: &product) }
        return product
    }
}
