/// The products that an import's pruning removes from one shelf.
package struct ShelfRemoval: Sendable, Hashable {
    package let store: CatalogKey
    /// The shelf; nil for the products that are on no shelf.
    package let shelf: CatalogKey?
    package let removed: Int
    /// The number of products that were there before and stay.
    package let remaining: Int

    package init(store: CatalogKey, shelf: CatalogKey?, removed: Int, remaining: Int) {
        self.store = store
        self.shelf = shelf
        self.removed = removed
        self.remaining = remaining
    }

    /// Whether the removal must be confirmed: it removes more than one product, and more than a tenth of the shelf.
    package var isLarge: Bool { removed > max(1, (removed + remaining) / 10) }

    /// Removals of this many shelves are named in texts.
    private static let namedLimit = 5

    package var description: String {
        let count = "\(removed) of \(removed + remaining) products"
        return shelf.map { "\(count) from the shelf “\($0)” of “\(store)”" }
            ?? "\(count) without a shelf from “\(store)”"
    }

    /// Returns a text that lists removals: all of the first five shelves, and the number of the others.
    package static func list(_ removals: [ShelfRemoval]) -> String {
        let rest = removals.count - namedLimit
        let named = removals.prefix(namedLimit).map(\.description).joined(separator: ", ")
        return rest > 0 ? "\(named), and products from \(rest) more shel\(rest == 1 ? "f" : "ves")" : named
    }

    /// Checks the removals of an import that nobody has confirmed.
    ///
    /// - Throws: `unprocessable` if one of them must be confirmed; nothing may be changed then.
    package static func checkUnconfirmed(_ removals: [ShelfRemoval]) throws(CatalogError) {
        let large = removals.filter(\.isLarge)
        guard !large.isEmpty else { return }
        throw .unprocessable(
            field: "prune",
            detail: """
                pruning would remove \(list(large)), more than a tenth; nothing was changed. Check that the file is \
                complete, and confirm with confirm_prune (command line: --yes)
                """
        )
    }
}
