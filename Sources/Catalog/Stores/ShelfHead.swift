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
    /// Whether sold-out products sort last.
    package var sortsSoldOutLast: Bool { (state.shelf.soldOut ?? store.soldOut) == .last }

    /// Resolves the sort and filter to show. A requested sort overrides the remembered sort and its filter; without one, a requested
    /// filter replaces the remembered filter.
    ///
    /// - Parameter allowsPositions: whether the manual order can be shown; if not, the next of the other sorts applies.
    package func resolve(
        _ requested: RequestedSort = RequestedSort(),
        remembering remembered: RememberedSorts = .none,
        allowsPositions: Bool = true
    ) -> ResolvedSort {
        func isAllowed(_ sort: Sort) -> Bool { allowsPositions || !sort.readsPositions }
        if let sort = requested.sort {
            return ResolvedSort(sort: sort, source: .query, filter: requested.filter ?? .none)
        }
        if let own = [remembered.shelf, remembered.store].lazy.compactMap({ $0 }).first(where: { isAllowed($0.sort) }) {
            return ResolvedSort(
                sort: own.sort,
                source: .user,
                filter: requested.filter ?? own.filter,
                filterSource: requested.filter == nil ? .user : .query
            )
        }
        let filter = requested.filter ?? .none
        if let sort = [state.shelf.defaultSort, state.inheritedSort].lazy.compactMap({ $0 }).first(where: isAllowed) {
            return ResolvedSort(sort: sort, source: .shelf, filter: filter)
        }
        if let sort = store.defaultSort, isAllowed(sort) {
            return ResolvedSort(sort: sort, source: .store, filter: filter)
        }
        return ResolvedSort(sort: .system, source: .system, filter: filter)
    }
}
