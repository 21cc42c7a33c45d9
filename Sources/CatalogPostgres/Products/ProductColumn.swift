internal import Catalog
internal import LibPQ

/// A column that `product` and `placement` share: the one table that reading, writing, importing and generating products are
/// derived from.
///
/// The raw value is the column's place in a row that is read, behind the SKU.
enum ProductColumn: Int, CaseIterable, Sendable {
    case name = 1
    case brand, priceMinor, regularPriceMinor, sizeAmount, sizeUnit, sizePacks, sizeDrained, sizeApproximate, barcode
    case imageURL, attributes, inStock, tags, popularityLog2, createdAt, modifiedAt
    case sizeDimension, baseQuantity

    /// The column's name.
    var name: SQL {
        switch self {
        case .name: "name"
        case .brand: "brand"
        case .priceMinor: "price_minor"
        case .regularPriceMinor: "regular_price_minor"
        case .sizeAmount: "size_amount"
        case .sizeUnit: "size_unit"
        case .sizePacks: "size_packs"
        case .sizeDrained: "size_drained"
        case .sizeApproximate: "size_approximate"
        case .barcode: "barcode"
        case .imageURL: "image_url"
        case .attributes: "attributes"
        case .inStock: "in_stock"
        case .tags: "tags"
        case .popularityLog2: "popularity_log2"
        case .createdAt: "created_at"
        case .modifiedAt: "modified_at"
        case .sizeDimension: "size_dimension"
        case .baseQuantity: "base_quantity"
        }
    }

    /// Whether the column follows from others: it is written, but neither compared nor read. Such columns are last.
    var isDerived: Bool { self == .sizeDimension || self == .baseQuantity }

    /// The expression that reads the column.
    var selection: SQL {
        switch self {
        case .sizeAmount, .sizeDrained, .attributes: "\(name)::text"
        default: name
        }
    }

    /// What a product states for the column; nil if the database decides.
    func value(of product: Product) -> PostgresValue? {
        let size = product.size
        return switch self {
        case .name: .text(product.name)
        case .brand: .text(product.brand)
        case .priceMinor: .int8(product.priceMinor)
        case .regularPriceMinor: .int8(product.regularPriceMinor)
        case .sizeAmount: .numeric(size?.amount.description)
        case .sizeUnit: .text(size?.unit.rawValue)
        case .sizePacks: .int4(size.map { Int32($0.packs) })
        case .sizeDrained: .numeric(size?.drained?.description)
        case .sizeApproximate: .bool(size?.isApproximate)
        case .barcode: .text(product.barcode)
        case .imageURL: .text(product.imageURL)
        case .attributes: .jsonb(product.attributes)
        case .inStock: .bool(product.inStock)
        case .tags: .textArray(product.tags)
        case .sizeDimension: .int2(size.map { Int16($0.unit.dimension.ordinal) })
        case .baseQuantity: .numeric(size?.baseQuantity.description)
        case .popularityLog2, .createdAt, .modifiedAt: nil
        }
    }

    /// Whether a product states the column.
    var isStated: Bool {
        switch self {
        case .popularityLog2, .createdAt, .modifiedAt: false
        default: true
        }
    }

    /// The column of an import file without which an import leaves this column alone; nil if imports never write it.
    var imported: ImportColumn? {
        switch self {
        case .name: .name
        case .brand: .brand
        // A promotional price comes with a price.
        case .priceMinor, .regularPriceMinor: .price
        case .sizeAmount, .sizeUnit, .sizePacks, .sizeDrained, .sizeApproximate, .sizeDimension, .baseQuantity: .size
        case .barcode: .barcode
        case .imageURL: .imageURL
        case .inStock: .inStock
        case .tags: .tags
        case .attributes, .popularityLog2, .createdAt, .modifiedAt: nil
        }
    }

    /// The columns that are read, in order.
    static let read = allCases.filter { !$0.isDerived }
    /// The columns that a product states, in order.
    static let stated = allCases.filter(\.isStated)
    /// The columns that an import stages, in order.
    static let staged = allCases.filter { $0.imported != nil }
}

extension Sequence<ProductColumn> {
    /// The names, separated by commas.
    var names: SQL { map(\.name).joined() }

    /// The names in a table, separated by commas.
    func names(in table: SQL) -> SQL { map { "\(table).\($0.name)" as SQL }.joined() }

    /// SET assignments that copy each column from a table.
    func assignments(from table: SQL) -> SQL { map { "\($0.name) = \(table).\($0.name)" as SQL }.joined() }
}
