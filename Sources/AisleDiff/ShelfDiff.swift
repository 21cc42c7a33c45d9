/// A move diff from the service, with its old and new version.
///
/// `Product` is the client's type for products that enter a window; `NoProduct` ignores them.
public struct ShelfDiff<Product: Sendable>: Sendable {
    /// An inserted element.
    public struct Insert: Sendable {
        /// The id of the element.
        public var id: String
        /// The product, if the response has it and the client reads it.
        public var product: Product?

        /// Creates an inserted element.
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

    /// Where pages continue after a window.
    public enum NextPage: Hashable, Sendable {
        /// The cursor of the page after the window.
        case cursor(String)
        /// The order ends in the window.
        case end
        /// The diff does not say, because the request had no limit, or because it was read from the binary form.
        ///
        /// With a limit, the response of the binary form has the next page in the header `Link`.
        case unknown
    }

    /// The shelf's version of the old order; nil if it is not known, or if plain lists were compared.
    public var fromVersion: Int64?
    /// The shelf's version of the new order; nil if plain lists were compared.
    public var toVersion: Int64?
    /// Where pages continue after the new window.
    public var nextPage: NextPage
    /// How the order changes.
    public var content: Content
    /// The products of changed elements by their new indexes, if the response has them and the client reads them.
    ///
    /// An order with collapsed groups has those of groups that another product represents.
    public var changedProducts: [Int32: Product]

    /// Creates a diff from its parts.
    public init(
        fromVersion: Int64? = nil,
        toVersion: Int64? = nil,
        nextPage: NextPage = .unknown,
        content: Content,
        changedProducts: [Int32: Product] = [:]
    ) {
        self.fromVersion = fromVersion
        self.toVersion = toVersion
        self.nextPage = nextPage
        self.content = content
        self.changedProducts = changedProducts
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

/// An error in reading or applying a diff.
public enum ShelfDiffError: Error, Hashable, Sendable {
    /// The diff belongs to another list.
    case otherList
    /// The bytes end too early, continue after the end, or contain an invalid number.
    case malformed
    /// The wire format version is not supported.
    case unknownVersion(UInt8)
    /// A list is longer than the reader allows.
    case tooLong(Int)
    /// The parts are inconsistent.
    case flaw(MoveDiff.Flaw)
}

/// The product type of a client that ignores products.
public struct NoProduct: Decodable, Hashable, Sendable {
    /// Ignores the product.
    public init(from decoder: any Decoder) {}
}

/// Several moves whose elements are adjacent both before and after.
struct MoveRun {
    var to: Int
    var from: Int
    var count: Int
    var isReversed: Bool
}
