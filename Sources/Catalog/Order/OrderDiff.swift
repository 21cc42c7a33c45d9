package import AisleDiff

/// How a diff is answered.
package enum DiffMode: String, CaseIterable, Sendable {
    /// The least moves.
    case moves
    /// The least moves, or the order whole when more than half of the list moves.
    case auto
    /// The order whole.
    case order
}

/// What a client asks of a shelf that is reordered.
package struct DiffRequest: Sendable {
    /// What the client shows.
    package enum Start: Sendable {
        /// The shelf as it is asked for.
        case view(ShelfView)
        /// Any list of ids.
        case list([String])
    }

    package var store: CatalogKey
    package var shelf: CatalogKey
    package var from: Start
    package var to: ShelfView
    /// The caller's, which come before the shelf's own.
    package var remembered = RememberedViews.none
    /// Only the first so many of both orders are looked at.
    package var limit: Int?
    package var mode: DiffMode
    /// Whether the answer can carry the products that enter the window.
    package var carriesProducts = true

    /// The largest window: its products travel with the answer.
    package static let windowBound = 10_000

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        from: Start,
        to: ShelfView = ShelfView(),
        limit: Int? = nil,
        mode: DiffMode = .moves
    ) {
        self.store = store
        self.shelf = shelf
        self.from = from
        self.to = to
        self.limit = limit
        self.mode = mode
    }
}

/// The diff between two orders, with what is needed to tell it.
package struct OrderDiff: Sendable {
    /// The longest list that is compared.
    package static let listBound = 200_000

    /// The shelf's order that was reached; nil where two lists of no shelf were compared.
    package let reached: ShelfOrder?
    /// The sort that it was reached from, where it was one.
    package let fromSort: Sort?
    /// The shelf's version that it was reached from, where that is known.
    package let fromVersion: Int64?
    /// The version that was reached.
    package let toVersion: Int64?
    package let old: [String]
    package let new: [String]
    package private(set) var diff: MoveDiff
    package let isWholeOrder: Bool
    /// How long comparing took.
    package let comparing: Duration
    /// How long reading the orders took.
    package fileprivate(set) var reading: Duration = .zero
    /// The products that enter a window, by id.
    package private(set) var products: [String: Product] = [:]

    /// Compares two lists.
    ///
    /// - Throws: `tooLarge` for a list that is too long, `unprocessable` for one with a repeated id; `cancelled`.
    package init(
        old: [String],
        new: [String],
        mode: DiffMode,
        reached: ShelfOrder? = nil,
        fromSort: Sort? = nil,
        fromVersion: Int64? = nil,
        toVersion: Int64? = nil
    ) throws(CatalogError) {
        // A shelf's own orders have no repeats.
        try Self.check(old, "from", isOwn: fromSort != nil || fromVersion != nil)
        try Self.check(new, "to", isOwn: reached != nil)
        let start = ContinuousClock.now
        do {
            diff = try MoveDiff(from: old, to: new) { try Task.checkCancellation() }
        } catch {
            throw .cancelled
        }
        comparing = ContinuousClock.now - start
        self.old = old
        self.new = new
        self.reached = reached
        self.fromSort = fromSort
        self.fromVersion = fromVersion ?? (fromSort == nil ? nil : reached?.head.state.version)
        self.toVersion = toVersion ?? reached?.head.state.version
        isWholeOrder = mode == .order || (mode == .auto && diff.moves.count * 2 > new.count)
    }

    static func check(_ ids: [String], _ field: String, isOwn: Bool = false) throws(CatalogError) {
        guard ids.count <= listBound else {
            throw .tooLarge(
                "\(field) has \(ids.count) ids; at most \(listBound) are compared" + (isOwn ? "; name a limit" : "")
            )
        }
        if !isOwn, let id = ids.firstRepeat {
            throw .unprocessable(field: field, detail: "the id “\(id.prefix(64))” stands in \(field) twice")
        }
    }

    /// The ids of what comes in.
    package var insertedIDs: [String] { diff.inserts.map { new[Int($0)] } }

    /// The ids of what goes.
    package var deletedIDs: [String] { diff.deletes.map { old[Int($0)] } }

    /// With the products that enter a window, and the indexes in the new list of those whose content differs.
    package func with(_ products: [Product], changed: [Int32]) -> OrderDiff {
        var copy = with(products, reading: reading)
        copy.diff = diff.marking(changed: changed)
        return copy
    }

    fileprivate func with(_ products: [Product], reading: Duration) -> OrderDiff {
        var copy = self
        copy.reading = reading
        copy.products = Dictionary(products.map { ($0.sku.text, $0) }, uniquingKeysWith: { a, _ in a })
        return copy
    }
}

extension CatalogStore {
    /// The diff from what a client shows to a shelf's order now. Both orders, and the products that enter a window, are
    /// read at one moment.
    ///
    /// - Throws: as `OrderDiff`; `malformed` for a limit below 1; `notFound`.
    package func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff {
        if let limit = request.limit, !(1...DiffRequest.windowBound).contains(limit) {
            throw .malformed(parameter: "limit", detail: "limit must be from 1 to \(DiffRequest.windowBound)")
        }
        // All of the list, not only what is in the window.
        if case .list(let ids) = request.from, request.limit != nil { try OrderDiff.check(ids, "from") }
        var views = [request.to]
        if case .view(let view) = request.from { views.append(view) }
        let start = ContinuousClock.now
        return try await withOrders(
            of: request.shelf,
            in: request.store,
            by: views,
            remembering: request.remembered,
            first: request.limit
        ) { orders, fetch in
            let old: [String] =
                switch request.from {
                case .view: orders[1].ids
                case .list(let ids): request.limit.map { Array(ids.prefix($0)) } ?? ids
                }
            let diff = try OrderDiff(
                old: old,
                new: orders[0].ids,
                mode: request.mode,
                reached: orders[0],
                fromSort: orders.count > 1 ? orders[1].sort : nil
            )
            let carries =
                request.limit != nil && request.carriesProducts && !diff.isWholeOrder && !diff.diff.inserts.isEmpty
            let products = carries ? try fetch(diff.insertedIDs) : []
            return diff.with(products, reading: ContinuousClock.now - start - diff.comparing)
        }
    }
}
