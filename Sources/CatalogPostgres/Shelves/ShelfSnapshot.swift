internal import Catalog
internal import Shelves

/// A shelf in memory at one of its versions.
struct ShelfSnapshot: Sendable {
    let version: Int64
    let table: ShelfTable
    /// The size in memory, in bytes.
    let size: Int

    init(version: Int64, table: ShelfTable) {
        (self.version, self.table) = (version, table)
        size = 128 + table.size
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
}
