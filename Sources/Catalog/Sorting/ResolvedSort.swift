package import JSON

/// The sort, filter and search that a shelf is shown with, and their sources.
package struct ResolvedSort: Hashable, Sendable {
    package let sort: Sort
    package let source: SortSource
    package let filter: Filter
    package let filterSource: FilterSource
    /// The search; nil for all products.
    package let search: SearchText?
    /// Whether each group of products has one card.
    package let collapsesGroups: Bool
    /// The first source whose sort or filter names an unknown attribute, so that the next source applies; nil without one.
    package let ignored: SortSource?

    package init(
        sort: Sort,
        source: SortSource,
        filter: Filter = .none,
        filterSource: FilterSource = .query,
        search: SearchText? = nil,
        collapsesGroups: Bool = false,
        ignored: SortSource? = nil
    ) {
        self.sort = sort
        self.source = source
        self.filter = filter
        self.filterSource = filterSource
        self.search = search
        self.collapsesGroups = collapsesGroups
        self.ignored = ignored
    }

    /// A text that identifies the sort, the filter, the attributes in them, their sources, the search, and whether groups are collapsed.
    package var text: String {
        let text = "\(sort.description) \(source.rawValue) \(filter.query) \(filterSource.rawValue)"
        let (ignored, attributes) = (ignored.map { " without \($0.rawValue)" } ?? "", attributeDigest)
        return text + ignored + (attributes.isEmpty ? "" : " \(attributes)") + (search.map { "\u{0}q \($0)" } ?? "")
            + (collapsesGroups ? "\u{0}collapsed" : "")
    }

    /// The attributes in the sort and in the filter.
    package var attributes: [ResolvedAttribute] { sort.attributes + filter.attributes }

    /// Identifies the attributes in the sort and in the filter, each once; empty without any.
    package var attributeDigest: String {
        var seen: Set<ResolvedAttribute> = []
        return attributes.filter { seen.insert($0).inserted }.map { String($0.digest, radix: 36) }
            .joined(separator: " ")
    }

    /// The filter in responses; null if there is none.
    package var filterJSON: JSONValue {
        guard !filter.isEmpty else { return .null }
        return .object([.init("terms", filter.json), .init("source", .string(filterSource.rawValue))])
    }
}
