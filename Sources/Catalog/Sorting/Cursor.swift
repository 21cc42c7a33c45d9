/// The position after a page's last row, independent of later changes.
package struct Cursor: Hashable, Sendable {
    /// The collection that the cursor belongs to: a shelf, a store's shelves or a store's products.
    package var scope: String
    /// The order, in the API's grammar.
    package var sort: String
    /// The source of the sort when the first page was requested.
    package var source: SortSource
    /// The filter as a query, and its source.
    package var filter: String
    package var filterSource: FilterSource
    /// The comparison dimension of the first page.
    package var dimension: Dimension
    /// Whether the last row is in the sold-out group.
    package var isSoldOut: Bool
    /// The shelf's key generation; if it changed, a manual position is looked up by id.
    package var keyGeneration: Int64
    /// Identifies the attributes in the sort and in the filter; empty without any.
    package var attributes: String
    /// The search with the class in use on the first page; nil without a search.
    package var search: Search?
    /// Whether each group of products has one card.
    package var collapsesGroups: Bool
    /// The last row's value of each compared key.
    package var values: [SortValue]
    package var name: String
    package var id: String

    package init(
        scope: String,
        sort: String,
        source: SortSource,
        filter: String = "",
        filterSource: FilterSource = .query,
        dimension: Dimension = .mass,
        isSoldOut: Bool = false,
        keyGeneration: Int64 = 0,
        attributes: String = "",
        search: Search? = nil,
        collapsesGroups: Bool = false,
        values: [SortValue] = [],
        name: String = "",
        id: String
    ) {
        self.scope = scope
        self.sort = sort
        self.source = source
        self.filter = filter
        self.filterSource = filterSource
        self.dimension = dimension
        self.isSoldOut = isSoldOut
        self.keyGeneration = keyGeneration
        self.attributes = attributes
        self.search = search
        self.collapsesGroups = collapsesGroups
        self.values = values
        self.name = name
        self.id = id
    }
}

extension Cursor {
    /// A search with the class in use, which later pages keep.
    package struct Search: Hashable, Sendable {
        package var text: SearchText
        package var searchClass: SearchClass

        package init(_ text: SearchText, _ searchClass: SearchClass) {
            (self.text, self.searchClass) = (text, searchClass)
        }
    }

    /// A text that identifies the position, and the class in use.
    package var place: String {
        "\(isSoldOut)\(values)\u{0}\(name)\u{0}\(id)" + (search.map { "\u{0}\($0.searchClass.name)" } ?? "")
    }
}
