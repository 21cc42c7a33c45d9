internal import Catalog
internal import Shelves

/// A shelf in memory at one of its versions.
struct ShelfSnapshot: Sendable {
    let version: Int64
    let table: ShelfTable
    /// The size in memory, in bytes, without `shown`.
    let size: Int
    /// The products as pages show them, if the shelf was just read: all of them, or those that changed. They are not kept.
    var shown: ShownProducts?

    init(version: Int64, table: ShelfTable) {
        (self.version, self.table) = (version, table)
        size = 128 + table.size
    }

    /// Creates the shelf of an image and of the changes since then.
    ///
    /// - Parameter isWhole: whether the image was made of rows.
    init(_ image: ShelfImage, with changes: ShelfReader.Changes, isWhole: Bool) {
        let table = changes.rows.isEmpty ? image.table : image.table.applying(changes.rows)
        self.init(version: changes.version, table: table)
        shown = ShownProducts(image: image, changes: changes, isWhole: isWhole)
    }

    /// An earlier version of the shelf, whose products were in the same rows.
    struct Step: Sendable {
        let version: Int64
        /// The rows that had other values than in the next version.
        let rows: [UInt32]
    }

    /// The number of steps that are kept.
    private static let stepLimit = 64

    /// Earlier versions, the last one first, from whose views those of this version follow.
    private(set) var steps: [Step] = []

    /// Returns the shelf after changes.
    func applying(_ changes: ShelfReader.Changes) -> ShelfSnapshot {
        let changed = table.changed(by: changes.rows)
        var next = ShelfSnapshot(version: changes.version, table: changed.table)
        if let rows = changed.rows {
            next.steps = [Step(version: version, rows: rows)] + steps.prefix(Self.stepLimit - 1)
        }
        return next
    }

    /// The shelf as it is kept.
    var kept: ShelfSnapshot {
        var kept = self
        kept.shown = nil
        return kept
    }
}

/// Products as pages show them, which were read with their shelf.
struct ShownProducts: Sendable {
    /// nil if only changes were read.
    let image: ShelfImage?
    /// The changes since the image, or since the version in memory.
    let changes: ShelfReader.Changes
    /// Whether the image was made of rows, and may not be stored yet.
    let isWhole: Bool

    /// Returns a lookup of some of the products.
    ///
    /// - Complexity: O(*n*) for *n* products of the shelf.
    func lookup(_ skus: [SKU]) -> (SKU) -> Product? {
        let rows = image?.table.rows(of: skus.filter { changes.rows[$0] == nil }) ?? [:]
        return { sku in changes.products[sku] ?? rows[sku].flatMap { image?.product($0) } }
    }
}
