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

    /// Returns the shelf after changes.
    func applying(_ changes: ShelfReader.Changes) -> ShelfSnapshot {
        ShelfSnapshot(version: changes.version, table: table.applying(changes.products))
    }
}
