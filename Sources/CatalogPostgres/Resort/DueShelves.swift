/// The shelves of a store whose scores may be outdated.
struct DueShelves: Sendable {
    /// A counted product on one of its shelves; nil for a product without shelves.
    struct Row {
        let product: String
        let mark: Int64
        let shelf: Int32?
    }

    let ids: Set<Int32>
    /// The products with outdated scores by shelf; nil if they are too many, or not known.
    let products: [Int32: [String]]?
    /// The products, and the marks at which their scores are copied when all these shelves are updated.
    let marks: [(product: String, mark: Int64)]

    /// The number of products beyond which all products of a shelf are compared: so many that it is not slower, and that
    /// their SKUs would take too much memory.
    static let productLimit = 200_000

    init(ids: Set<Int32>) { (self.ids, products, marks) = (ids, nil, []) }

    /// - Parameter rows: sorted by product.
    init(_ rows: [Row]) {
        var products: [Int32: [String]] = [:]
        var marks: [(product: String, mark: Int64)] = []
        for row in rows {
            if let shelf = row.shelf { products[shelf, default: []].append(row.product) }
            if marks.last?.product != row.product { marks.append((row.product, row.mark)) }
        }
        (ids, self.products, self.marks) = (Set(products.keys), products, marks)
    }
}
