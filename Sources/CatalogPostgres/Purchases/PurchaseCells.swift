internal import LibPQ

/// The cells of the inbox, a partition each. Half of them are open for new purchases; the others are sealed and folded
/// meanwhile, or empty.
///
/// All purchases of a product that are pending in one half are in the same cell, so that cells can be folded
/// concurrently.
enum PurchaseCells {
    /// The number of cells that are open.
    static let openCount = 4
    static let all = 0..<2 * openCount

    /// A cell's table.
    static func table(_ cell: Int) -> SQL { "purchase_inbox_\(cell)" }

    /// Returns SQL for the distance of a product's cell from the first open one. It must never change for purchases that
    /// are pending.
    static func offset(_ sku: SQL) -> SQL { "get_byte(sha256(convert_to(\(sku), 'UTF8')), 0) % \(openCount)" }
}
