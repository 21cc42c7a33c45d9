package import JSON

/// A shelf of a store.
package struct Shelf: Hashable, Sendable {
    package var key: CatalogKey
    package var title: String
    package var parent: CatalogKey?
    package var defaultSort: Sort?
    /// The declared comparison dimension of unit prices; nil for the most common one.
    package var dimension: Dimension?
    /// nil for the store's.
    package var soldOut: SoldOut?
    /// The sort from which the re-sort rebuilds the manual order.
    package var positionSource: Sort?
    /// Whether a request without `include` also gets the products of the shelves below.
    package var includesDescendants: Bool
    /// Whether a request without `collapse` gets one card for each group of products.
    package var collapsesGroups: Bool

    /// The maximum number of shelves from the top to the innermost one.
    package static let depthLimit = 16

    package init(
        key: CatalogKey,
        title: String,
        parent: CatalogKey? = nil,
        defaultSort: Sort? = nil,
        dimension: Dimension? = nil,
        soldOut: SoldOut? = nil,
        positionSource: Sort? = nil,
        includesDescendants: Bool = false,
        collapsesGroups: Bool = false
    ) {
        self.key = key
        self.title = title
        self.parent = parent
        self.defaultSort = defaultSort
        self.dimension = dimension
        self.soldOut = soldOut
        self.positionSource = positionSource
        self.includesDescendants = includesDescendants
        self.collapsesGroups = collapsesGroups
    }

    package static let titleLimit = 200
}

extension Shelf {
    /// The settings that requests set, as members of a body.
    package var settings: [JSONValue.Member] {
        [
            .init("title", .string(title)), .init("parent", .text(parent?.text)),
            .init("default_sort", .text(defaultSort?.description)),
            .init("dimension", .text(dimension?.rawValue)), .init("sold_out", .text(soldOut?.rawValue)),
            .init("position_source", .text(positionSource?.description)),
            .init("includes_descendants", includesDescendants ? .bool(true) : .null),
            .init("collapses_groups", collapsesGroups ? .bool(true) : .null),
        ]
    }
}

extension Shelf {
    /// The sorts by attributes that are new, with the names of their fields: the store must have these attributes.
    ///
    /// A sort that does not change may have lost its attribute.
    package func attributeSorts(since old: Shelf? = nil) -> [(field: String, sort: Sort)] {
        ResolvedAttributes.changed(defaultSort, old?.defaultSort, "default_sort")
            + ResolvedAttributes.changed(positionSource, old?.positionSource, "position_source")
    }
}

/// The keys of a shelf and its store.
package struct ShelfAddress: Sendable, Hashable {
    package var store: CatalogKey
    package var shelf: CatalogKey

    package init(_ store: CatalogKey, _ shelf: CatalogKey) {
        self.store = store
        self.shelf = shelf
    }
}

/// The sorts of a store's shelves.
package enum ShelfSort: String, CaseIterable, Sendable, Hashable {
    case position, name
    case nameDescending = "-name"
    case modified
    case modifiedDescending = "-modified"
}
