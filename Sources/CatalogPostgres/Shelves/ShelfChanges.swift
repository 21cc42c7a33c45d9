internal import LibPQ

/// The products that a transaction changed on shelves: those whose values, place in the manual order or presence changed.
///
/// A shelf of which too much changed is left out: servers read it as a whole.
struct ShelfChanges: Sendable {
    /// The changed products by shelf; none for a shelf of which only settings changed.
    private(set) var products: [Int32: Set<String>] = [:]

    init() {}

    /// One product on several shelves.
    init(_ sku: String, on shelves: [Int32]) { for shelf in shelves { products[shelf] = [sku] } }

    /// Several products on one shelf.
    init(_ skus: some Sequence<String>, on shelf: Int32) { insert(skus, on: shelf) }

    /// The products of rows of a shelf and a sku.
    init(_ rows: borrowing PostgresRows) throws {
        for (shelf, sku) in try rows.map({ (try $0.int4(0), try $0.text(1)) }) { insert(sku, on: shelf) }
    }

    /// The changed shelves, in the order in which they are locked.
    var shelves: [Int32] { products.keys.sorted() }

    mutating func insert(_ sku: String, on shelf: Int32) { products[shelf, default: []].insert(sku) }

    mutating func insert(_ skus: some Sequence<String>, on shelf: Int32) {
        products[shelf, default: []].formUnion(skus)
    }

    /// Records the changes as those of each shelf's next version, which the transaction must assign afterwards. It holds their locks.
    func record(in storeID: Int32, _ connection: isolated PostgresConnection) throws {
        guard !products.isEmpty else { return }
        var (shelves, skus): ([Int64], [String]) = ([], [])
        for (shelf, products) in products {
            // The empty text means none: the shelf has a row, even if no product changed.
            for sku in products.isEmpty ? [""] : products {
                shelves.append(Int64(shelf))
                skus.append(sku)
            }
        }
        try connection.executeDeferred(
            ShelfChangeStatements.record,
            [.int4(storeID), .int8Array(shelves), .textArray(skus)]
        )
    }

    /// Records the changes, and assigns the next version to the changed shelves.
    ///
    /// - Parameters:
    ///   - order: whether the manual orders changed.
    ///   - count: how many products came, or went.
    func recordAndBump(
        in storeID: Int32,
        order: Bool = false,
        count: Int32 = 0,
        _ connection: isolated PostgresConnection
    ) throws {
        let shelves = shelves
        guard !shelves.isEmpty else { return }
        try record(in: storeID, connection)
        try connection.execute(
            ShelfStatements.bump,
            [.int4(storeID), .int8Array(shelves.map(Int64.init)), .bool(order), .int4(count)]
        )
    }
}
