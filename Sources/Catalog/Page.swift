/// What a client asks of a shelf's products, read from a URL or a command line.
package struct PageRequest: Sendable, Hashable {
    package var store: CatalogKey
    package var shelf: CatalogKey
    /// nil: the caller's, the shelf's, the store's or the system's.
    package var sort: Sort?
    /// nil: what the caller remembers with their sort, where that counts.
    package var filter: Filter?
    /// What is counted besides.
    package var facets: Set<Facet>
    /// Whose remembered sort counts where none is asked for.
    package var user: UserID?
    package var limit: Int
    package var after: Cursor?
    /// Entity tags of answers that the client has.
    package var knownTags: [String]

    package static let limits = 1...100
    package static let defaultLimit = 24

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        sort: Sort? = nil,
        filter: Filter? = nil,
        facets: Set<Facet> = [],
        user: UserID? = nil,
        limit: Int = defaultLimit,
        after: Cursor? = nil,
        knownTags: [String] = []
    ) {
        self.store = store
        self.shelf = shelf
        self.sort = sort
        self.filter = filter
        self.facets = facets
        self.user = user
        self.limit = limit
        self.after = after
        self.knownTags = knownTags
    }

    /// What its cursors are bound to.
    package var scope: String { "products/\(store)/\(shelf)" }
}

/// A shelf, its store and their settings, as they were at one moment.
package struct ShelfHead: Sendable, Hashable {
    package var store: Store
    /// Grows with every change of the store's settings.
    package var storeVersion: Int64
    package var state: ShelfState

    package init(store: Store, storeVersion: Int64, state: ShelfState) {
        self.store = store
        self.storeVersion = storeVersion
        self.state = state
    }
}

/// What is read for a page: a request, settled against the shelf's settings.
package struct PagePlan: Sendable, Hashable {
    package let view: SettledView
    package let facets: Set<Facet>
    /// What prices are in.
    package let currency: Currency
    /// Whether what is sold out sorts behind all else.
    package let sinksSoldOut: Bool
    /// The dimension whose unit prices come first.
    package let dimension: Dimension
    package let after: Cursor?
    package let limit: Int
    /// The shelf's generation of keys.
    package let keyGeneration: Int64

    package var sort: Sort { view.sort }
    package var source: SortSource { view.source }

    init(_ request: PageRequest, _ view: SettledView, _ head: ShelfHead, dimension: Dimension) {
        self.view = view
        self.dimension = dimension
        facets = request.facets
        currency = head.store.currency
        sinksSoldOut = (head.state.shelf.soldOut ?? head.store.soldOut) == .last
        after = request.after
        limit = request.limit
        keyGeneration = head.state.keyGeneration
    }
}

extension PageRequest {
    /// - Throws: `malformed` for a limit out of range, `invalidCursor` for a cursor of another shelf, sort or filter.
    package func plan(
        for head: ShelfHead,
        remembering remembered: RememberedViews = .none
    ) throws(CatalogError) -> PagePlan {
        guard Self.limits.contains(limit) else {
            throw .malformed(parameter: "limit", detail: "limit must be from 1 to 100")
        }
        guard let after else {
            let view = head.settle(ShelfView(sort: sort, filter: filter), remembering: remembered)
            return PagePlan(self, view, head, dimension: head.state.comparisonDimension)
        }
        guard after.scope == scope, let order = try? Sort.parse(after.sort), sort == nil || sort == order,
            after.values.count == order.terms.count, let shown = try? Filter(query: after.filter),
            filter == nil || filter == shown
        else { throw .invalidCursor }
        let view = SettledView(
            sort: order,
            source: sort == nil ? after.source : .query,
            filter: shown,
            filterSource: filter == nil ? after.filterSource : .query
        )
        return PagePlan(self, view, head, dimension: after.dimension)
    }
}

/// A page of a shelf.
package struct ShelfPage: Sendable {
    package let head: ShelfHead
    package let plan: PagePlan
    package let products: [Product]
    /// Where the next page begins; nil on the last.
    package let next: Cursor?
    /// Those that were asked for.
    package var facets: Facets?

    package init(head: ShelfHead, plan: PagePlan, products: [Product], next: Cursor?) {
        self.head = head
        self.plan = plan
        self.products = products
        self.next = next
    }

    /// A page from up to `limit + 1` listings: the one too many tells that there is a next page.
    package init(head: ShelfHead, plan: PagePlan, scope: String, listings: [Listing]) {
        let shown = listings.prefix(plan.limit)
        let next = listings.count > plan.limit ? shown.last.map { plan.cursor(at: $0, scope: scope) } : nil
        self.init(head: head, plan: plan, products: shown.map(\.product), next: next)
    }
}

extension PagePlan {
    /// The cursor that goes on behind a product.
    package func cursor(at listing: Listing, scope: String) -> Cursor {
        Cursor(
            scope: scope,
            sort: sort.description,
            source: source,
            filter: view.filter.query,
            filterSource: view.filterSource,
            dimension: dimension,
            isBehind: listing.isBehind,
            keyGeneration: keyGeneration,
            values: sort.terms.map { $0.key.value(of: listing) },
            name: listing.product.name,
            id: listing.product.sku.text
        )
    }

    /// The facets' names, in their own order.
    package var facetNames: String { Facet.allCases.filter(facets.contains).map(\.rawValue).joined(separator: ",") }

    /// The entity tag of the answer: it changes with everything that the answer depends on.
    ///
    /// - Parameter day: the UTC day to which popularity is scaled.
    package func entityTag(_ head: ShelfHead, day: Int) -> String {
        var hash = FNV64()
        hash.combine(view.text)
        hash.combine(facetNames)
        hash.combine(String(dimension.ordinal))
        hash.combine(String(limit))
        if let after { hash.combine(after.place) }
        return "\"\(head.storeVersion)-\(head.state.version)-\(day)-\(String(hash.value, radix: 36))\""
    }
}

extension Cursor {
    /// The place that it stands for, as text.
    package var place: String { "\(isBehind)\(values)\u{0}\(name)\u{0}\(id)" }
}

/// FNV-1a, 64 bits: a stable, unkeyed hash. Source: draft-eastlake-fnv.
package struct FNV64: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ text: String) {
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = (value ^ 0xFF) &* 0x100_0000_01b3
    }
}

/// An answer to a page request.
package enum PageAnswer: Sendable {
    /// The client already has it.
    case unchanged(tag: String)
    case page(ShelfPage, tag: String)
}
