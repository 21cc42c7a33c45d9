/// A move diff from the service, with its old and new version.
///
/// `Product` is the client's type for products that enter a window; `NoProduct` ignores them.
public struct ShelfDiff<Product: Sendable>: Sendable {
    /// An inserted element.
    public struct Insert: Sendable {
        public var id: String
        public var product: Product?

        public init(id: String, product: Product? = nil) {
            self.id = id
            self.product = product
        }
    }

    /// The change of the order.
    public enum Content: Sendable {
        /// The minimal moves, and the inserted elements in the order of `MoveDiff.inserts`.
        case moves(MoveDiff, inserts: [Insert])
        /// The whole new order, if it was requested or if most of the list moves.
        case order([String])
    }

    /// The shelf's old and new version; nil if plain lists were compared.
    public var fromVersion: Int64?
    public var toVersion: Int64?
    public var content: Content

    public init(fromVersion: Int64? = nil, toVersion: Int64? = nil, content: Content) {
        self.fromVersion = fromVersion
        self.toVersion = toVersion
        self.content = content
    }

    /// Returns the ids in their new order.
    ///
    /// - Throws: `ShelfDiffError.otherList` if the diff belongs to a list of another length.
    /// - Complexity: O(n).
    public func apply(to ids: [String]) throws(ShelfDiffError) -> [String] {
        switch content {
        case .order(let ids): return ids
        case .moves(let diff, let inserts):
            guard ids.count == diff.oldCount, inserts.count == diff.inserts.count else { throw .otherList }
            var next = 0
            return diff.apply(to: ids) { (_: Int) throws(Never) in
                defer { next += 1 }
                return inserts[next].id
            }
        }
    }
}
