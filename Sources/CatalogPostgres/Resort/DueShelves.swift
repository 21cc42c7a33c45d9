/// The shelves of a store whose scores may be outdated.
struct DueShelves: Sendable {
    /// A counted product on one of its shelves.
    struct Placement {
        let product: String
        let shelf: Int32
    }

    let ids: Set<Int32>
    /// The products with outdated scores by shelf; nil if they are too many, or not known.
    let products: [Int32: [String]]?
    /// The rows of the queue whose products are copied when all these shelves are updated.
    let rows: [DueProducts.Row]

    /// - Parameters:
    ///   - ids: the shelves.
    ///   - rows: the rows of the queue that were counted before the shelves were looked up.
    init(ids: Set<Int32>, _ rows: [DueProducts.Row]) { (self.ids, products, self.rows) = (ids, nil, rows) }

    /// - Parameters:
    ///   - placements: of the counted products.
    ///   - rows: the rows of the queue that were counted before the placements were looked up.
    init(_ placements: [Placement], _ rows: [DueProducts.Row]) {
        var products: [Int32: [String]] = [:]
        for placement in placements { products[placement.shelf, default: []].append(placement.product) }
        (ids, self.products, self.rows) = (Set(products.keys), products, rows)
    }
}
