package import AisleDiff

/// The diff between two orders, with the versions, sorts and products for the response.
package struct OrderDiff: Sendable {
    /// The maximum number of ids in a list.
    package static let listLimit = 200_000

    /// The target order; nil if two plain lists were compared.
    package let targetOrder: ShelfOrder?
    /// The sort of the old order, if it was one of the shelf.
    package let fromSort: Sort?
    /// The sort and filter of the old order; nil for a list.
    package private(set) var fromResolvedSort: ResolvedSort?
    /// The shelf version of the old order, if known.
    package let fromVersion: Int64?
    /// The shelf version of the new order.
    package let toVersion: Int64?
    package let old: OrderedIDs
    package let new: OrderedIDs
    package private(set) var diff: MoveDiff
    package let isWholeOrder: Bool
    /// Whether only the first products of both orders were compared.
    package private(set) var isWindow = false
    /// The cursor of the page after the new window; nil if the new order ends there, and without a window.
    package private(set) var next: Cursor?
    /// The number of products whose search index was built for the diff.
    package var indexedProducts: Int { targetOrder?.indexedProducts ?? 0 }
    /// The time spent comparing the orders.
    package let compareDuration: Duration
    /// The time spent reading the orders.
    package private(set) var readDuration: Duration = .zero
    /// The products that enter a window, and the groups that changed in it, by id.
    package private(set) var products: [String: ShownProduct] = [:]

    /// Compares two lists.
    ///
    /// - Parameter hasVersions: whether versions of the shelf identify the orders.
    /// - Throws: `tooLarge` for a list that is too long, `unprocessable` for one with a repeated id; `cancelled`.
    package init(
        old: [String],
        new: [String],
        mode: DiffMode,
        targetOrder: ShelfOrder? = nil,
        fromSort: Sort? = nil,
        fromVersion: Int64? = nil,
        toVersion: Int64? = nil,
        hasVersions: Bool = true
    ) throws(CatalogError) {
        try self.init(
            old: OrderedIDs(old),
            new: OrderedIDs(new),
            mode: mode,
            targetOrder: targetOrder,
            fromSort: fromSort,
            fromVersion: fromVersion,
            toVersion: toVersion,
            hasVersions: hasVersions
        )
    }

    private init(
        old: OrderedIDs,
        new: OrderedIDs,
        mode: DiffMode,
        targetOrder: ShelfOrder?,
        fromSort: Sort?,
        fromVersion: Int64? = nil,
        toVersion: Int64? = nil,
        hasVersions: Bool = true
    ) throws(CatalogError) {
        // A shelf's own orders have no repeats.
        try Self.check(old, "from", isShelfOrder: fromSort != nil || fromVersion != nil)
        try Self.check(new, "to", isShelfOrder: targetOrder != nil)
        let start = ContinuousClock.now
        do {
            diff = try Self.moves(old, new)
        } catch {
            throw .cancelled
        }
        compareDuration = ContinuousClock.now - start
        self.old = old
        self.new = new
        self.targetOrder = targetOrder
        self.fromSort = fromSort
        let version = hasVersions ? targetOrder?.version : nil
        self.fromVersion = fromVersion ?? (fromSort == nil ? nil : version)
        self.toVersion = toVersion ?? version
        isWholeOrder = mode == .order || (mode == .auto && diff.moves.count * 2 > new.count)
    }

    /// Compares orders of one table by places, and others by ids.
    private static func moves(_ old: OrderedIDs, _ new: OrderedIDs) throws -> MoveDiff {
        if let (a, b) = old.places.flatMap({ a in new.places.map { (a, $0) } }), a.version == b.version {
            let limit = max(a.limit, b.limit)
            return MoveDiff(fromOrdinals: a.places.map(Int32.init), to: b.places.map(Int32.init), limit: limit)
        }
        return try MoveDiff(from: Array(old), to: Array(new)) { try Task.checkCancellation() }
    }

    static func check(_ ids: OrderedIDs, _ field: String, isShelfOrder: Bool = false) throws(CatalogError) {
        guard ids.count <= listLimit else {
            throw .tooLarge(
                "\(field) has \(ids.count) ids; the maximum is \(listLimit)" + (isShelfOrder ? "; set limit" : "")
            )
        }
        if !isShelfOrder, let id = Array(ids).firstRepeat {
            throw .unprocessable(field: field, detail: "duplicate id “\(id.prefix(64))” in \(field)")
        }
    }

    /// The ids of inserted products.
    package var insertedIDs: [String] { diff.inserts.map { new[Int($0)] } }

    /// The ids of inserted products; with collapsed groups, also of cards that changed, because no product has the id of a group.
    package var newIDs: [String] {
        let collapses = targetOrder?.resolvedSort.collapsesGroups == true
        return insertedIDs + (collapses ? diff.changed.map { new[Int($0)] } : [])
    }

    /// The ids of deleted products.
    package var deletedIDs: [String] { diff.deletes.map { old[Int($0)] } }

    /// Returns a copy with the products that enter a window and the new indexes of products whose content changed.
    package func with(_ products: [ShownProduct], changed: [Int32]) -> OrderDiff {
        var copy = with(products, readDuration: readDuration)
        copy.diff = diff.marking(changed: changed)
        return copy
    }

    /// Returns a copy with the products that enter a window and the time spent reading.
    package func with(_ products: [ShownProduct], readDuration: Duration) -> OrderDiff {
        var copy = self
        copy.readDuration = readDuration
        copy.products = Dictionary(products.map { ($0.id, $0) }, uniquingKeysWith: { a, _ in a })
        return copy
    }
}

extension OrderDiff {
    /// Compares the order that a client shows with a shelf's order.
    ///
    /// - Parameter orders: the orders of `request.sorts`, in that sequence.
    /// - Throws: as `init(old:new:mode:)`.
    package init(_ request: DiffRequest, _ orders: [ShelfOrder]) throws(CatalogError) {
        let old: OrderedIDs =
            switch request.from {
            case .sort: orders[1].list
            case .list(let ids): OrderedIDs(request.limit.map { Array(ids.prefix($0)) } ?? ids)
            }
        try self.init(
            old: old,
            new: orders[0].list,
            mode: request.mode,
            targetOrder: orders[0],
            fromSort: orders.count > 1 ? orders[1].sort : nil
        )
        fromResolvedSort = orders.count > 1 ? orders[1].resolvedSort : nil
        isWindow = request.limit != nil
        next = new.next
        diff = diff.marking(changed: Self.changedRepresentatives(self.old, new))
    }

    /// Returns the new indexes of groups that another product represents in the new order.
    private static func changedRepresentatives(_ old: OrderedIDs, _ new: OrderedIDs) -> [Int32] {
        guard let a = old.places, let b = new.places, a.version == b.version, !a.representatives.isEmpty,
            !b.representatives.isEmpty
        else { return [] }
        let before = Dictionary(zip(a.places, a.representatives)) { first, _ in first }
        return b.places.indices.filter { index in
            before[b.places[index]].map { $0 != b.representatives[index] } ?? false
        }.map { Int32($0) }
    }

    /// Whether the response includes the products that enter a window.
    package func includesProducts(for request: DiffRequest) -> Bool {
        request.limit != nil && request.includesProducts && !isWholeOrder && !newIDs.isEmpty
    }
}
