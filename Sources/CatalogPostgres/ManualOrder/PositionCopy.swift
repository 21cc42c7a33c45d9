internal import LibPQ
internal import Ordering

/// Inserts rows of manual orders with COPY.
enum PositionCopy {
    /// - Parameter rows: the shelf, SKU and key of each row.
    static func run(
        _ rows: some Sequence<(Int32, String, PathKey)>,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        var rows = rows.makeIterator()
        var text = CopyText()
        _ = try connection.copyIn(PlacementStatements.copyPositions) {
            text.removeAll()
            while text.bytes.count < PostgresConnection.copyChunkSize, let (shelf, sku, key) = rows.next() {
                text.field(storeID)
                text.field(shelf)
                text.field(sku)
                text.field(bytes: key.bytes)
                text.endRow()
            }
            return text.bytes
        }
    }
}
