package import JSON

/// The sort and filter that a shelf is shown with, and their sources.
package struct ResolvedSort: Hashable, Sendable {
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

    /// A text that identifies the sort, the filter and their sources.
    package var text: String { "\(sort.description) \(source.rawValue) \(filter.query) \(filterSource.rawValue)" }

    /// The filter in responses; null if there is none.
    package var filterJSON: JSONValue {
        guard !filter.isEmpty else { return .null }
        return .object([.init("terms", filter.json), .init("source", .string(filterSource.rawValue))])
    }
}
