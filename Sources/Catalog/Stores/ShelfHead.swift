/// A shelf, its store and their settings, read in one snapshot.
package struct ShelfHead: Sendable, Hashable {
    package var store: Store
    /// A counter that grows with every change to the store's settings, and to the parents and default sorts that its shelves inherit.
    package var storeVersion: Int64
    /// A counter that grows with every change to the attributes of the deployment. Those of the store are part of its version.
    package var attributeRevision: Int64
    /// A counter that grows with every change to the synonyms of the deployment. Those of the store are part of its version.
    package var synonymRevision: Int64
    package var state: ShelfState

    package init(
        store: Store,
        storeVersion: Int64,
        attributeRevision: Int64 = 0,
        synonymRevision: Int64 = 0,
        state: ShelfState
    ) {
        self.store = store
        self.storeVersion = storeVersion
        self.attributeRevision = attributeRevision
        self.synonymRevision = synonymRevision
        self.state = state
    }

    /// All shelves of a store as one shelf, with the store's settings and none of its own.
    package init(allShelvesOf store: Store, version: Int64, attributeRevision: Int64 = 0, synonymRevision: Int64 = 0) {
        let state = ShelfState(
            shelf: Shelf(key: store.key, title: store.title),
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 0,
            orderVersion: 0
        )
        self.init(
            store: store,
            storeVersion: version,
            attributeRevision: attributeRevision,
            synonymRevision: synonymRevision,
            state: state
        )
    }
}

extension ShelfHead {
    /// Whether sold-out products sort last.
    package var sortsSoldOutLast: Bool { (state.shelf.soldOut ?? store.soldOut) == .last }

    /// Returns a text that identifies what is shown of the shelf's products, for entity tags. With a search, it has the revisions of the
    /// deployment's synonyms and attributes: the version of the store covers all other rules of searches.
    package func text(of shown: ResolvedSort) -> String {
        shown.search == nil ? shown.text : "\(shown.text) \(synonymRevision) \(attributeRevision)"
    }

    /// Resolves the sort and filter to show. A requested sort overrides the remembered sort and its filter; without one, a requested
    /// filter replaces the remembered filter. Whether groups are collapsed is decided by the request, the remembered sort if it applies,
    /// and then the shelf. A search without a sort is sorted by relevance, whatever is remembered.
    ///
    /// A remembered or default sort by an attribute that the store no longer has is ignored, and the next one applies.
    ///
    /// - Parameters:
    ///   - allowsPositions: whether the manual order can be shown; if not, the next of the other sorts applies.
    ///   - attributes: the attributes of the store.
    /// - Throws: `unknownSortKey` and `malformed` for a requested attribute that the store does not have, or that does not fit.
    package func resolve(
        _ requested: RequestedSort = RequestedSort(),
        remembering remembered: RememberedSorts = .none,
        allowsPositions: Bool = true,
        attributes: ResolvedAttributes = .none
    ) throws(CatalogError) -> ResolvedSort {
        let filter = try requested.filter.map { filter throws(CatalogError) in try filter.resolved(in: attributes) }
        /// Whether groups are collapsed. The default of the shelf is not for a manual order that a request or a user chose: merchandisers edit it.
        func collapses(_ sort: Sort, remembered: Bool? = nil, isChosen: Bool = true) -> Bool {
            let isDefault = state.shelf.collapsesGroups && !(isChosen && sort.readsPositions)
            return requested.collapsesGroups ?? remembered ?? isDefault
        }
        if let sort = requested.sort {
            do throws(SortError) { try sort.check(for: requested.search) } catch { throw .unknownSortKey(error) }
            return ResolvedSort(
                sort: try sort.known(in: attributes, allowsRelevance: requested.search != nil),
                source: .query,
                filter: filter ?? .none,
                search: requested.search,
                collapsesGroups: collapses(sort)
            )
        }
        if let search = requested.search {
            return ResolvedSort(
                sort: .relevance,
                source: .search,
                filter: filter ?? .none,
                search: search,
                collapsesGroups: collapses(.relevance)
            )
        }
        let (own, isAnyIgnored) = remembered.applying(
            to: filter,
            allowsPositions: allowsPositions,
            in: attributes
        )
        var ignored: SortSource? = isAnyIgnored ? .user : nil
        if let own {
            let sort = try own.sort.known(in: attributes)
            // A filter that is replaced may have an attribute that the store no longer has.
            let kept = if let filter { filter } else { try own.filter.resolved(in: attributes) }
            return ResolvedSort(
                sort: sort,
                source: .user,
                filter: kept,
                filterSource: filter == nil ? .user : .query,
                collapsesGroups: collapses(sort, remembered: own.collapsesGroups),
                ignored: ignored
            )
        }
        func resolved(_ sort: Sort?, _ source: SortSource) -> Sort? {
            guard let sort, allowsPositions || !sort.readsPositions else { return nil }
            let known = try? sort.resolved(in: attributes)
            if known == nil { ignored = ignored ?? source }
            return known
        }
        func shown(_ sort: Sort, _ source: SortSource) -> ResolvedSort {
            ResolvedSort(
                sort: sort,
                source: source,
                filter: filter ?? .none,
                collapsesGroups: collapses(sort, isChosen: false),
                ignored: ignored
            )
        }
        let defaults: [(Sort?, SortSource)] = [
            (state.shelf.defaultSort, .shelf), (state.inheritedSort, .shelf), (store.defaultSort, .store),
        ]
        for (sort, source) in defaults {
            guard let sort = resolved(sort, source) else { continue }
            return shown(sort, source)
        }
        return shown(.system, .system)
    }
}
