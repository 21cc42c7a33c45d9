/// A move diff as the service answers it, with the versions that it leads from and to.
///
/// `Product` is what the client makes of the products that enter a window; `NoProduct` where it does not look at them.
public struct ShelfDiff<Product: Sendable>: Sendable {
    /// An element that comes in.
    public struct Insert: Sendable {
        public var id: String
        public var product: Product?

        public init(id: String, product: Product? = nil) {
            self.id = id
            self.product = product
        }
    }

    public enum Content: Sendable {
        /// The least moves, and the elements that come in, in the order of `MoveDiff.inserts`.
        case moves(MoveDiff, inserts: [Insert])
        /// The new order whole, where the server was asked for it, or most of the list moves.
        case order([String])
    }

    /// The shelf's version before and after; nil where lists were compared that are of no shelf.
    public var fromVersion: Int64?
    public var toVersion: Int64?
    public var content: Content

    public init(fromVersion: Int64? = nil, toVersion: Int64? = nil, content: Content) {
        self.fromVersion = fromVersion
        self.toVersion = toVersion
        self.content = content
    }

    /// The ids in their new order.
    ///
    /// - Throws: `ShelfDiffError.otherList` where the diff is not of a list of that length.
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

/// What a client that does not look at products reads of one.
public struct NoProduct: Decodable, Hashable, Sendable {
    public init(from decoder: any Decoder) {}
}

/// Why a diff cannot be read or applied.
public enum ShelfDiffError: Error, Hashable, Sendable {
    /// The diff is of another list.
    case otherList
    /// The bytes end too early, go on behind the end, or have a number that is none.
    case malformed
    /// The wire form is of a version that this library does not know.
    case unknownVersion(UInt8)
    /// A list is longer than the reader allows.
    case tooLong(Int)
    /// The parts contradict one another.
    case flaw(MoveDiff.Flaw)
}
