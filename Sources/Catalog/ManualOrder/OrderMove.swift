/// One move of a manual order: some products, which keep the order in which they are named, and where they go.
package struct OrderMove: Sendable, Hashable {
    package enum Target: Sendable, Hashable {
        /// Right behind a product, or right before it.
        case after(String)
        case before(String)
        case first
        case last
        /// So many products from the front, counted after the moved ones are taken out; beyond the end is the end.
        case position(Int)
    }

    package var ids: [String]
    package var target: Target

    package init(_ ids: [String], _ target: Target) {
        self.ids = ids
        self.target = target
    }

    /// The most products of one move.
    package static let countLimit = 10_000

    /// The product that the target names.
    package var anchor: String? {
        switch target {
        case .after(let id), .before(let id): id
        case .first, .last, .position: nil
        }
    }

    /// Whether the products are to go next to one of themselves: a single one stays where it is.
    package var isInPlace: Bool { ids.count == 1 && ids.first == anchor }

    /// - Throws: `unprocessable` for no product, a repeated one, one that is its own anchor, a position below 0.
    package func check() throws(CatalogError) {
        guard !ids.isEmpty else { throw .unprocessable(field: "ids", detail: "a move names no product") }
        guard ids.count <= Self.countLimit else {
            throw .unprocessable(field: "ids", detail: "a move names at most \(Self.countLimit) products")
        }
        if let id = ids.firstRepeat {
            throw .unprocessable(field: "ids", detail: "“\(id.prefix(64))” is named twice in one move")
        }
        if let anchor, ids.count > 1, ids.contains(anchor) {
            throw .unprocessable(field: "ids", detail: "“\(anchor.prefix(64))” cannot move next to itself")
        }
        if case .position(let position) = target, position < 0 {
            throw .unprocessable(field: "position", detail: "a position is 0 or more, not \(position)")
        }
    }

    /// The order after the move: what it means.
    ///
    /// - Throws: as `check`, and for a product that is not in the order.
    package func apply(to order: [String]) throws(CatalogError) -> [String] {
        try check()
        let known = Set(order)
        if let stranger = (ids + [anchor].compactMap { $0 }).first(where: { !known.contains($0) }) {
            throw .unknownProduct(stranger)
        }
        if isInPlace { return order }
        let moved = Set(ids)
        var rest = order.filter { !moved.contains($0) }
        let place =
            switch target {
            case .after(let anchor): rest.firstIndex(of: anchor)! + 1
            case .before(let anchor): rest.firstIndex(of: anchor)!
            case .first: 0
            case .last: rest.count
            case .position(let position): min(position, rest.count)
            }
        rest.insert(contentsOf: ids, at: place)
        return rest
    }
}

extension Array where Element: Hashable {
    /// The first element that stood before.
    package var firstRepeat: Element? {
        var seen = Set<Element>(minimumCapacity: count)
        return first { !seen.insert($0).inserted }
    }
}

extension CatalogError {
    package static func unknownProduct(_ id: String) -> CatalogError {
        .unprocessable(field: "ids", detail: "“\(id.prefix(64))” does not stand in this order")
    }
}
