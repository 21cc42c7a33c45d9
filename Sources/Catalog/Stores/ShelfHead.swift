/// A shelf, its store and their settings, read in one snapshot.
package struct ShelfHead: Sendable, Hashable {
    package var store: Store
    /// A counter that grows with every change to the store's settings, and to the parents and default sorts that its shelves inherit.
    package var storeVersion: Int64
    package var state: ShelfState

    package init(store: Store, storeVersion: Int64, state: ShelfState) {
        self.store = store
        self.storeVersion = storeVersion
        self.state = state
    }

    /// All shelves of a store as one shelf, with the store's settings and none of its own.
    package init(allShelvesOf store: Store, version: Int64) {
        let state = ShelfState(
            shelf: Shelf(key: store.key, title: store.title),
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 0,
            orderVersion: 0
        )
        self.init(store: store, storeVersion: version, state: state)
    }
}

extension ShelfHead {
    /// Resolves the view to show. A requested sort overrides the whole remembered view; without one, a requested
    /// filter replaces the remembered filter.
    ///
    /// - Parameter allowsPositions: whether the manual order can be shown; if not, the next of the other sorts applies.
    package func resolve(
        _ requested: ShelfView = ShelfView(),
        remembering remembered: RememberedViews = .none,
        allowsPositions: Bool = true
    ) -> ResolvedView {
        func isAllowed(_ sort: Sort) -> Bool { allowsPositions || !sort.readsPositions }
        if let sort = requested.sort {
            return ResolvedView(sort: sort, source: .query, filter: requested.filter ?? .none)
        }
        if let own = [remembered.shelf, remembered.store].lazy.compactMap({ $0 }).first(where: { isAllowed($0.sort) }) {
            return ResolvedView(
                sort: own.sort,
                source: .user,
                filter: requested.filter ?? own.filter,
                filterSource: requested.filter == nil ? .user : .query
            )
        }
        let filter = requested.filter ?? .none
        if let sort = [state.shelf.defaultSort, state.inheritedSort].lazy.compactMap({ $0 }).first(where: isAllowed) {
            return ResolvedView(sort: sort, source: .shelf, filter: filter)
        }
        if let sort = store.defaultSort, isAllowed(sort) {
            return ResolvedView(sort: sort, source: .store, filter: filter)
        }
        return ResolvedView(sort: .system, source: .system, filter: filter)
    }
}

/// A shelf and all shelves below it, shown as one shelf.
package struct ShelfUnion: Sendable, Hashable {
    /// Identifies the shelves and their versions.
    package let digest: String
    /// The dimension whose unit prices come first: the declared one of the upper shelf, or else the most frequent one of the products.
    package let dimension: Dimension

    package init(digest: String, dimension: Dimension) {
        self.digest = digest
        self.dimension = dimension
    }
}

/// A version of everything that a shelf shows; while it is equal, the shelf is unchanged.
package struct ShelfVersion: Sendable, Hashable {
    /// The version of the store, which covers what shelves inherit: their parents and default sorts.
    package var store: Int64
    package var shelf: Int64

    package init(store: Int64, shelf: Int64) {
        self.store = store
        self.shelf = shelf
    }

    package init(_ head: ShelfHead) { self.init(store: head.storeVersion, shelf: head.state.version) }
}
