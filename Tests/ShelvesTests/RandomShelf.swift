import Catalog
import Ordering
@testable import Shelves
import TestSupport

/// A shelf of random products with many ties, as a table and as the specification sees it.
struct RandomShelf {
    var listings: [Listing]
    let dimension: Dimension
    let sortsSoldOutLast: Bool

    static let currency = Currency("EUR")!

    init(_ count: Int, using generator: inout SeededGenerator) {
        dimension = Dimension.allCases.randomElement(using: &generator)!
        sortsSoldOutLast = Bool.random(using: &generator)
        let keys = PathKey.appending(count, after: nil).shuffled(using: &generator)
        listings = []
        for (number, key) in keys.enumerated() { listings.append(listing(number, key, using: &generator)) }
    }

    /// Returns a random product with a position.
    func listing(_ number: Int, _ position: PathKey, using generator: inout SeededGenerator) -> Listing {
        let product = Product.random(number, using: &generator)
        return Listing(product: product, position: position.bytes, isSoldOut: sortsSoldOutLast && !product.inStock)
    }

    var table: ShelfTable { ShelfTable(rows) }
    var rows: [TableRow] { listings.map(Self.row) }
    var products: [SKU: Product] { Dictionary(uniqueKeysWithValues: listings.map { ($0.product.sku, $0.product) }) }

    /// Returns the image of products.
    static func image(_ listings: [Listing]) -> ShelfImage { ShelfImage(ShelfTable(listings.map(row))) }

    static func row(_ listing: Listing) -> TableRow { TableRow(listing.product, position: listing.position, key: key) }

    /// The sort key of a text: texts with the same first four letters, in any case, have equal keys.
    static func key(_ text: String) -> [UInt8] { Array(text.lowercased().prefix(4).utf8) }

    /// Compares texts by their keys.
    static func collate(_ a: String, _ b: String) -> Int {
        let (x, y) = (key(a), key(b))
        return x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1
    }

    /// Returns the products in the order of the specification.
    ///
    /// - Parameter relevances: the products that a search finds; nil without a search.
    func sorted(
        _ sort: Sort,
        _ filter: Filter = .none,
        _ relevances: [SKU: SearchRelevance]? = nil
    ) -> [Listing] {
        let kept = listings.filter { filter.accepts($0.product, in: Self.currency) }
            .filter { listing in relevances.map { $0[listing.product.sku] != nil } ?? true }
        return sort.sorted(kept, dimension: dimension, collate: Self.collate) { relevances?[$0.sku] }
    }

    func request(_ sort: Sort, _ filter: Filter = .none) -> ViewRequest {
        ViewRequest(
            sort: sort,
            filter: filter,
            dimension: dimension,
            sortsSoldOutLast: sortsSoldOutLast,
            currency: Self.currency
        )
    }

    /// Returns a random filter by some keys; nil for an empty range.
    func filter(_ keys: Int, using generator: inout SeededGenerator) -> Filter? {
        let chosen = FilterKey.allCases.shuffled(using: &generator).prefix(keys)
        let products = listings.map(\.product)
        let query = chosen.flatMap { key in
            key.random(products, Self.currency, using: &generator).map { "\(key.name)=\(PercentEncoding.encode($0))" }
        }
        return try? Filter(query: query.joined(separator: "&"))
    }
}

extension Sort {
    /// Returns a sort by up to three keys.
    static func random(using generator: inout SeededGenerator) -> Sort {
        let keys = SortKey.allCases.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
        let terms = keys.map { ($0.isReversible && Bool.random(using: &generator) ? "-" : "") + $0.name }
        return try! Sort.parse(terms.joined(separator: ","))
    }
}

extension TableView {
    /// The products of the view.
    func skus(_ table: ShelfTable) -> [String] { rows.map { table.sku(Int($0)).text } }
}

extension ShelfTable {
    /// The values of all rows.
    var rows: [TableRow] { (0..<count).map(values) }

    /// The first row in which two tables differ, for the output of a test; nil if they have the same values.
    func firstDifference(from other: ShelfTable) -> String? {
        for row in 0..<min(count, other.count) where values(row) != other.values(row) {
            return "row \(row): \(values(row)), not \(other.values(row))"
        }
        return count == other.count ? nil : "\(count) rows, not \(other.count)"
    }
}
