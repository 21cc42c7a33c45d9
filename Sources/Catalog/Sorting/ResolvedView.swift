/// The view of a shelf in force, and where its sort and filter came from.
package struct ResolvedView: Hashable, Sendable {
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

    /// A text that identifies the view.
    package var text: String { "\(sort.description) \(source.rawValue) \(filter.query) \(filterSource.rawValue)" }

    /// The filter as an answer tells it; null where everything is shown.
    package var filterJSON: JSONValue {
        guard !filter.isEmpty else { return .null }
        return .object([.init("terms", filter.json), .init("source", .string(filterSource.rawValue))])
    }
}
