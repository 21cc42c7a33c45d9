internal import Catalog
internal import Shelves

/// A shelf in memory at one of its versions.
struct ShelfSnapshot: Sendable {
    let version: Int64
    let table: ShelfTable
    /// Earlier versions, the last one first, from whose views those of this version follow.
    let steps: [Step]
    /// The size in memory, in bytes.
    let size: Int

    init(version: Int64, table: ShelfTable, steps: [Step] = []) {
        (self.version, self.table, self.steps) = (version, table, steps)
        size = steps.reduce(128 + table.size) { $0 + 64 + 4 * $1.rows.capacity }
    }

    /// An earlier version of the shelf, whose products were in the same rows.
    struct Step: Sendable {
        let version: Int64
        /// The rows that had other values than in the next version.
        let rows: [UInt32]
    }

    /// The number of changed rows up to which a view follows from an earlier one: sorting all rows takes about as long as moving a
    /// hundredth of them.
    private var changeLimit: Int { max(1, table.count / 100) }

    /// Returns the shelf after changes.
    func applying(_ changes: ShelfReader.Changes) -> ShelfSnapshot {
        let changed = table.changed(by: changes.rows)
        var (kept, total) = ([Step](), 0)
        if let rows = changed.rows {
            for step in [Step(version: version, rows: rows)] + steps {
                total += step.rows.count
                guard total <= changeLimit else { break }
                kept.append(step)
            }
        }
        return ShelfSnapshot(version: changes.version, table: changed.table, steps: kept)
    }
}
