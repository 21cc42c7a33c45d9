/// One move in a manual order: products, in the given sequence, and their target.
package struct OrderMove: Sendable, Hashable {
    /// The place that products are moved to.
    package enum Target: Sendable, Hashable {
        /// Immediately after a product, or immediately before it.
        case after(String)
        case before(String)
        case first
        case last
        /// An index counted without the moved products; an index past the end means the end.
        case position(Int)
    }

    package var ids: [String]
    package var target: Target

    package init(_ ids: [String], _ target: Target) {
        self.ids = ids
        self.target = target
    }

    /// The maximum number of products per move.
    package static let countLimit = 10_000

    /// The product that the target refers to.
    package var anchor: String? {
        switch target {
        case .after(let id), .before(let id): id
        case .first, .last, .position: nil
        }
    }

    /// Whether a single product is its own anchor: it stays in place.
    package var isInPlace: Bool { ids.count == 1 && ids.first == anchor }

    /// - Throws: `unprocessable` for no product, a duplicate, a product that is its own anchor, or a negative position.
    package func check() throws(CatalogError) {
        guard !ids.isEmpty else { throw .unprocessable(field: "ids", detail: "ids must not be empty") }
        guard ids.count <= Self.countLimit else {
            throw .unprocessable(field: "ids", detail: "a move can have at most \(Self.countLimit) products")
        }
        if let id = ids.firstRepeat {
            throw .unprocessable(field: "ids", detail: "duplicate id “\(id.prefix(64))” in one move")
        }
        if let anchor, ids.count > 1, ids.contains(anchor) {
            throw .unprocessable(field: "ids", detail: "“\(anchor.prefix(64))” cannot move next to itself")
        }
        if case .position(let position) = target, position < 0 {
            throw .unprocessable(field: "position", detail: "position must be 0 or more (got \(position))")
        }
    }

    /// Returns the order after the move.
    ///
    /// - Throws: as `check`, and for a product that is not in the order.
    package func apply(to order: [String]) throws(CatalogError) -> [String] {
        try check()
        let known = Set(order)
        if let unknownID = (ids + [anchor].compactMap { $0 }).first(where: { !known.contains($0) }) {
            throw .unknownProduct(unknownID)
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
    /// The first element that repeats an earlier one.
    package var firstRepeat: Element? {
        var seen = Set<Element>(minimumCapacity: count)
        return first { !seen.insert($0).inserted }
    }
}

extension CatalogError {
    package static func unknownProduct(_ id: String) -> CatalogError {
        .unprocessable(field: "ids", detail: "“\(id.prefix(64))” is not in this order")
    }
}
