/// A shelf, its store and their settings, as they were at one moment.
package struct ShelfHead: Sendable, Hashable {
    package var store: Store
    /// Grows with every change of the store's settings.
    package var storeVersion: Int64
    package var state: ShelfState
    /// Where the storage keeps the shelf; opaque to everything above it.
    package var location: ShelfLocation

    package init(store: Store, storeVersion: Int64, state: ShelfState, location: ShelfLocation = .none) {
        self.location = location
        self.store = store
        self.storeVersion = storeVersion
        self.state = state
    }
}

extension ShelfHead {
    /// Decides what is shown. A sort that is asked for takes nothing from what is remembered; without one, a filter that is
    /// asked for replaces the one that is remembered.
    package func resolve(
        _ asked: ShelfView = ShelfView(),
        remembering remembered: RememberedViews = .none
    ) -> ResolvedView {
        if let sort = asked.sort { return ResolvedView(sort: sort, source: .query, filter: asked.filter ?? .none) }
        if let own = remembered.view {
            return ResolvedView(
                sort: own.sort,
                source: .user,
                filter: asked.filter ?? own.filter,
                filterSource: asked.filter == nil ? .user : .query
            )
        }
        let filter = asked.filter ?? .none
        if let sort = state.shelf.defaultSort ?? state.inheritedSort {
            return ResolvedView(sort: sort, source: .shelf, filter: filter)
        }
        if let sort = store.defaultSort { return ResolvedView(sort: sort, source: .store, filter: filter) }
        return ResolvedView(sort: .system, source: .system, filter: filter)
    }
}
