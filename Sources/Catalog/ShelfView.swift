/// What of a shelf is shown, and in which order: as it is asked for.
package struct ShelfView: Hashable, Sendable {
    /// nil: the caller's, the shelf's, the store's or the system's.
    package var sort: Sort?
    /// nil: what the caller remembers together with the sort, where that counts; else everything.
    package var filter: Filter?

    package init(sort: Sort? = nil, filter: Filter? = nil) {
        self.sort = sort
        self.filter = filter
    }
}

/// The same as it was decided, and by whom.
package struct SettledView: Hashable, Sendable {
    package let sort: Sort
    package let source: SortSource
    package let filter: Filter
    package let filterSource: FilterSource

    package init(sort: Sort, source: SortSource, filter: Filter = .none, filterSource: FilterSource = .query) {
        self.sort = sort
        self.source = source
        self.filter = filter
        self.filterSource = filterSource
    }

    /// What tells views apart, as text.
    package var text: String { "\(sort.description) \(source.rawValue) \(filter.query) \(filterSource.rawValue)" }

    /// The filter as an answer tells it; null where everything is shown.
    package var filterJSON: JSONValue {
        guard !filter.isEmpty else { return .null }
        return .object([.init("terms", filter.json), .init("source", .string(filterSource.rawValue))])
    }
}

/// Who decided the sort of an answer.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
}

extension ShelfHead {
    /// Decides what is shown. A sort that is asked for takes nothing from what is remembered; without one, a filter that is
    /// asked for replaces the one that is remembered.
    package func settle(
        _ asked: ShelfView = ShelfView(),
        remembering remembered: RememberedViews = .none
    ) -> SettledView {
        if let sort = asked.sort { return SettledView(sort: sort, source: .query, filter: asked.filter ?? .none) }
        if let own = remembered.view {
            return SettledView(
                sort: own.sort,
                source: .user,
                filter: asked.filter ?? own.filter,
                filterSource: asked.filter == nil ? .user : .query
            )
        }
        let filter = asked.filter ?? .none
        if let sort = state.shelf.defaultSort ?? state.inheritedSort {
            return SettledView(sort: sort, source: .shelf, filter: filter)
        }
        if let sort = store.defaultSort { return SettledView(sort: sort, source: .store, filter: filter) }
        return SettledView(sort: .system, source: .system, filter: filter)
    }
}
