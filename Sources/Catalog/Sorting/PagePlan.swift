/// A page request resolved with the shelf's settings.
package final class PagePlan: Sendable {
    package let resolvedSort: ResolvedSort
    package let facets: Set<Facet>
    /// Whether the products that match the filter and the search are counted, or their groups if these are collapsed.
    package let wantsTotal: Bool
    /// Whether cards of groups have their members.
    package let wantsMembers: Bool
    /// Whether products have the parts of their texts that match the search. It is not in the entity tag: pages of the API have them.
    package let wantsMatches: Bool
    /// The currency of prices.
    package let currency: Currency
    /// The language by whose rules texts are ordered.
    package let language: String
    /// Whether sold-out products sort last.
    package let sortsSoldOutLast: Bool
    /// The dimension whose unit prices come first.
    package let dimension: Dimension
    package let after: Cursor?
    package let limit: Int
    /// The shelf's generation of keys.
    package let keyGeneration: Int64
    /// The shelves whose products are shown; nil if it is only one.
    package let union: ShelfUnion?
    /// The scope of its cursors.
    private let scope: String

    /// The class of the search's matches that the first page had in use; nil for the first page.
    package var searchClass: SearchClass? { after?.search?.searchClass }
    package var search: SearchText? { resolvedSort.search }
    /// Whether each group of products has one card.
    package var collapsesGroups: Bool { resolvedSort.collapsesGroups }
    package var sort: Sort { resolvedSort.sort }
    package var source: SortSource { resolvedSort.source }

    init(
        _ request: PageRequest,
        _ resolvedSort: ResolvedSort,
        _ head: ShelfHead,
        _ union: ShelfUnion?,
        dimension: Dimension,
        facets: Set<Facet>
    ) {
        self.resolvedSort = resolvedSort
        self.union = union
        scope = request.scope(in: head.store, isUnion: union != nil)
        self.dimension = dimension
        self.facets = facets
        wantsTotal = request.wantsTotal
        wantsMembers = request.wantsMembers && resolvedSort.collapsesGroups
        wantsMatches = request.wantsMatches && resolvedSort.search != nil
        currency = head.store.currency
        language = head.store.language
        sortsSoldOutLast = head.sortsSoldOutLast
        after = request.after
        limit = request.limit
        keyGeneration = head.state.keyGeneration
    }
}

extension PagePlan {
    /// Returns the cursor for the page after a product.
    ///
    /// - Parameters:
    ///   - values: the value of each compared key.
    ///   - searchClass: the class in use; nil without a search.
    package func cursor(
        at sku: SKU,
        _ name: String,
        _ values: [SortValue],
        isSoldOut: Bool,
        searchClass: SearchClass? = nil
    ) -> Cursor {
        Cursor(
            scope: scope,
            sort: sort.description,
            source: source,
            filter: resolvedSort.filter.query,
            filterSource: resolvedSort.filterSource,
            dimension: dimension,
            isSoldOut: isSoldOut,
            keyGeneration: keyGeneration,
            attributes: resolvedSort.attributeDigest,
            search: search.flatMap { text in searchClass.map { Cursor.Search(text, $0) } },
            collapsesGroups: collapsesGroups,
            values: values,
            name: name,
            id: sku.text
        )
    }

    /// The facets' names, in the order of responses, and what identifies their attributes.
    private var facetNames: String {
        facets.ordered.map { $0.name + ($0.attribute.map { " \($0.digest)" } ?? "") }.joined(separator: ",")
    }

    /// The attributes in the sort, in the filter and in the facets, each once.
    package var attributes: [ResolvedAttribute] {
        let all = resolvedSort.attributes + facets.compactMap(\.attribute)
        return all.isEmpty ? [] : Array(Set(all))
    }

    /// Returns the entity tag of the response; it changes with everything that the response depends on.
    ///
    /// - Parameter day: the UTC day to which popularity is scaled.
    package func entityTag(_ head: ShelfHead, day: Int) -> String {
        var hash = FNV64()
        hash.combine(head.text(of: resolvedSort))
        // Products had no group in earlier versions, under the same tag.
        hash.combine("group")
        // Pages with filters were short in earlier versions, under the same tag.
        if !resolvedSort.filter.isEmpty { hash.combine("whole") }
        hash.combine(facetNames)
        if wantsTotal { hash.combine("total") }
        if wantsMembers { hash.combine("members") }
        hash.combine(String(dimension.ordinal))
        hash.combine(String(limit))
        if let after { hash.combine(after.place) }
        if let union { hash.combine(union.digest) }
        return "\"\(head.storeVersion)-\(head.state.version)-\(day)-\(String(hash.value, radix: 36))\""
    }
}

/// A page request planned from a basis.
package struct PlannedPage: Sendable {
    package let basis: PageBasis
    package let plan: PagePlan

    package init(_ basis: PageBasis, _ plan: PagePlan) {
        self.basis = basis
        self.plan = plan
    }

    /// - Throws: as `PageRequest.plan`.
    package init(_ request: PageRequest, _ basis: PageBasis) throws(CatalogError) {
        self.init(
            basis,
            try request.plan(
                for: basis.head,
                remembering: basis.sorts,
                of: basis.union,
                attributes: basis.attributes
            )
        )
    }

    /// The entity tag of the page.
    ///
    /// - Parameter day: the UTC day to which popularity is scaled.
    package func entityTag(day: Int) -> String { plan.entityTag(basis.head, day: day) }
}
