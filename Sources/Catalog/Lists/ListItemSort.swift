/// What a list's items are sorted by.
package enum ListItemSort: String, CaseIterable, Sendable, Hashable {
    /// As they were added, or moved.
    case position
    case name
    case nameDescending = "-name"
    /// As one walks through the store: by its shelves' manual order, and theirs.
    case shelf
    case price
    case priceDescending = "-price"
    case unitPrice = "unit_price"
    case unitPriceDescending = "-unit_price"

    var isDescending: Bool { rawValue.hasPrefix("-") }

    /// The same without the direction.
    var key: ListItemSort { isDescending ? ListItemSort(rawValue: String(rawValue.dropFirst()))! : self }
}

extension ListItemSort {
    /// The items as they are shown: by the sort, those without a value behind in both directions, then in the manual order;
    /// where checked ones sink, all of them behind those that are not.
    ///
    /// Prices in different currencies, and unit prices of different dimensions, do not compare: they stand in groups.
    package func order(_ items: [ListItem], sinks: Bool, _ facts: ListFacts) -> [ListItem] {
        let decorated = items.map { (item: $0, value: Value(of: $0, key, facts)) }
        return decorated.sorted { a, b in
            if sinks, a.item.isChecked != b.item.isChecked { return b.item.isChecked }
            switch a.value.compare(b.value) {
            case .same: return a.item.key < b.item.key
            case .fixed(let isBefore): return isBefore
            case .turning(let isBefore): return isBefore != isDescending
            }
        }.map(\.item)
    }

    private enum Comparison {
        case same
        /// Between groups, and what is missing.
        case fixed(Bool)
        case turning(Bool)
    }

    private enum Value {
        case none
        case place(Int)
        case aisle(String, Int)
        case price(String, Int64)
        case unitPrice(String, UnitPrice)

        init(of item: ListItem, _ key: ListItemSort, _ facts: ListFacts) {
            let known = item.product.flatMap { facts.products[$0] }
            let currency = known?.store.currency.code ?? ""
            switch key {
            case .name: self = facts.ranks[facts.name(of: item)].map { .place($0) } ?? .none
            case .shelf:
                let aisle = item.product.flatMap { facts.aisles[$0] }
                self = aisle.map { .aisle(item.product!.store.text, $0) } ?? .none
            case .price: self = (known?.product.priceMinor).map { .price(currency, $0) } ?? .none
            case .unitPrice: self = (known?.product.unitPrice).map { .unitPrice(currency, $0) } ?? .none
            default: self = .none
            }
        }

        func compare(_ other: Value) -> Comparison {
            switch (self, other) {
            case (.none, .none): return .same
            case (.none, _): return .fixed(false)
            case (_, .none): return .fixed(true)
            case (.place(let a), .place(let b)): return a == b ? .same : .turning(a < b)
            case (.aisle(let s, let a), .aisle(let t, let b)):
                return s != t ? .fixed(s < t) : a == b ? .same : .turning(a < b)
            case (.price(let s, let a), .price(let t, let b)):
                return s != t ? .fixed(s < t) : a == b ? .same : .turning(a < b)
            case (.unitPrice(let s, let a), .unitPrice(let t, let b)):
                if s != t { return .fixed(s < t) }
                if a.dimension != b.dimension { return .fixed(a.dimension.ordinal < b.dimension.ordinal) }
                return a.isEqual(to: b) ? .same : .turning(a.isLess(than: b))
            default: preconditionFailure("a sort's values have one type")
            }
        }
    }
}
