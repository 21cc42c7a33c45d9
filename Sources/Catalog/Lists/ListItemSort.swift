/// The sort of a list's items.
package enum ListItemSort: String, CaseIterable, Sendable, Hashable {
    /// The manual order.
    case position
    case name
    case nameDescending = "-name"
    /// The walking order: by the manual order of shelves, then of products on a shelf.
    case shelf
    case price
    case priceDescending = "-price"
    case unitPrice = "unit_price"
    case unitPriceDescending = "-unit_price"

    var isDescending: Bool {
        switch self {
        case .nameDescending, .priceDescending, .unitPriceDescending: true
        case .position, .name, .shelf, .price, .unitPrice: false
        }
    }

}

extension ListItemSort {
    /// Returns the items in display order: by the sort, missing values last in both directions, then in manual order.
    /// If `sinks` is set, all checked items follow the unchecked ones.
    ///
    /// Prices in different currencies and unit prices in different dimensions are not comparable: they form groups.
    package func order(_ items: [ListItem], sinks: Bool, _ facts: ListFacts) -> [ListItem] {
        let decorated = items.map { (item: $0, value: Value(of: $0, self, facts)) }
        return decorated.sorted { a, b in
            if sinks, a.item.isChecked != b.item.isChecked { return b.item.isChecked }
            switch a.value.compare(b.value) {
            case .same: return a.item.key < b.item.key
            case .fixed(let isBefore): return isBefore
            case .directional(let isBefore): return isBefore != isDescending
            }
        }.map(\.item)
    }

    private enum Comparison {
        case same
        /// An order that the direction does not reverse: between groups, and for missing values.
        case fixed(Bool)
        case directional(Bool)
    }

    private enum Value {
        case none
        case place(Int)
        case aisle(String, Int)
        case price(String, Int64)
        case unitPrice(String, UnitPrice)

        init(of item: ListItem, _ sort: ListItemSort, _ facts: ListFacts) {
            let known = item.product.flatMap { facts.products[$0] }
            let currency = known?.store.currency.code ?? ""
            switch sort {
            case .position: self = .none
            case .name, .nameDescending: self = facts.ranks[facts.name(of: item)].map { .place($0) } ?? .none
            case .shelf:
                let aisle = item.product.flatMap { facts.aisles[$0] }
                self = aisle.map { .aisle(item.product!.store.text, $0) } ?? .none
            case .price, .priceDescending: self = (known?.product.priceMinor).map { .price(currency, $0) } ?? .none
            case .unitPrice, .unitPriceDescending:
                self = (known?.product.unitPrice).map { .unitPrice(currency, $0) } ?? .none
            }
        }

        func compare(_ other: Value) -> Comparison {
            switch (self, other) {
            case (.none, .none): return .same
            case (.none, _): return .fixed(false)
            case (_, .none): return .fixed(true)
            case (.place(let a), .place(let b)): return a == b ? .same : .directional(a < b)
            case (.aisle(let s, let a), .aisle(let t, let b)):
                return s != t ? .fixed(s < t) : a == b ? .same : .directional(a < b)
            case (.price(let s, let a), .price(let t, let b)):
                return s != t ? .fixed(s < t) : a == b ? .same : .directional(a < b)
            case (.unitPrice(let s, let a), .unitPrice(let t, let b)):
                if s != t { return .fixed(s < t) }
                if a.dimension != b.dimension { return .fixed(a.dimension.ordinal < b.dimension.ordinal) }
                return a.isEqual(to: b) ? .same : .directional(a.isLess(than: b))
            default: preconditionFailure("a sort's values have one type")
            }
        }
    }
}

/// The sort of a user's lists.
package enum ListSort: String, CaseIterable, Sendable, Hashable {
    /// The latest first.
    case lastModified = "last-modified"
    case name
    /// The user's manual order; new lists in creation order.
    case manual
}

/// The catalog data needed to sort and show a list: products, aisles and the ranks of names.
package struct ListFacts: Sendable {
    /// The products that exist.
    package var products: [ProductReference: (store: Store, product: Product)] = [:]
    /// Each product's place along the store's shelves, from the entrance; absent for products on no shelf.
    package var aisles: [ProductReference: Int] = [:]
    /// The rank of each compared text in `language`.
    package var ranks: [String: Int] = [:]

    package init() {}

    /// The language by whose rules names are ordered: that of the store with most of the products, the first one by key if several have as
    /// many; `root` without products.
    package var language: String {
        var counts: [CatalogKey: (count: Int, language: String)] = [:]
        for (store, _) in products.values { counts[store.key, default: (0, store.language)].count += 1 }
        let most = counts.max { a, b in (a.value.count, b.key) < (b.value.count, a.key) }
        return most?.value.language ?? Store.languageOfNoStore
    }

    /// Returns an item's display name.
    package func name(of item: ListItem) -> String {
        item.product.flatMap { products[$0]?.product.name } ?? item.text
    }
}

/// A change to a list's settings; nil keeps a setting.
package struct ListSettings: Sendable, Hashable {
    package var name: String?
    package var autoSort: Bool?
    package var sort: ListItemSort?
    package var isDeleted: Bool?

    package init(
        name: String? = nil,
        autoSort: Bool? = nil,
        sort: ListItemSort? = nil,
        isDeleted: Bool? = nil
    ) {
        self.name = name
        self.autoSort = autoSort
        self.sort = sort
        self.isDeleted = isDeleted
    }
}

extension SettingKey {
    /// The user's sort for their lists.
    package static let listsSort = SettingKey(stored: "lists.sort")
    /// Whether checked items sink on the user's new lists.
    package static let listsSinkChecked = SettingKey(stored: "lists.sink_checked")
}
