/// The name of an attribute: `[a-z][a-z0-9_]{0,31}`.
package struct AttributeName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ text: some StringProtocol) {
        guard (1...32).contains(text.utf8.count), text.utf8.first.map(Self.isLetter) == true,
            text.utf8.allSatisfy({ Self.isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.text = String(text)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    package var description: String { text }
    package static func < (a: Self, b: Self) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }
    package static let rule = "1 to 32 characters of a-z, 0-9 and _, starting with a letter"

    /// Checks that a new attribute may have the name. Declared attributes keep names that are reserved later.
    ///
    /// - Throws: `unprocessable`.
    package func checkAvailable() throws(CatalogError) {
        if let ending = Self.reservedEndings.first(where: { text.hasSuffix($0) }) {
            throw Self.unavailable(
                "“\(text)” ends in “\(ending)”, which is reserved for filters by attributes; choose another name"
            )
        }
        guard !Self.reserved.contains(text) else {
            throw Self.unavailable("“\(text)” is reserved for the API; choose another name, such as “my_\(text)”")
        }
    }

    private static func unavailable(_ detail: String) -> CatalogError {
        .unprocessable(field: "attribute", detail: detail)
    }

    /// The endings of filters: a range, and sets of values.
    package static let reservedEndings = ["_min", "_max", "_any", "_all", "_none"]

    /// The names of sort keys, filters, facets, columns of files, fields of products and parameters, also of planned ones.
    package static let reserved: Set<String> = {
        var names = Set(SortKey.allCases.map(\.name))
        names.formUnion(FilterKey.allCases.map(\.name))
        names.formUnion(Facet.allCases.map(\.rawValue))
        names.formUnion(ImportColumn.allCases.map(\.columnName))
        names.formUnion(ProductText.allCases.map { $0.name.description })
        return names.union(words)
    }()

    /// Tests compare these with the fields of products and with the parameters of the API.
    private static let words: Set<String> = [
        // Fields of products.
        "as_of", "created_at", "deposit_minor", "group", "modified_at", "offers", "placement", "popularity",
        "price_minor", "prior_price_minor", "quantity", "regular_price_minor", "shelves", "tiers", "unit_reference",
        // Sort keys, filters and the context of a page.
        "collapse", "discount", "facets", "filter", "hidden", "include", "members", "merchandising", "offer_price",
        "offer_unit_price", "on_promotion", "q", "relevance", "remember_attributes", "sort", "tier", "total", "usual",
        // Other parameters.
        "action", "actor", "at", "confirm", "confirm_prune", "create_store", "cursor", "decimal_mark", "dry_run",
        "encoding", "feed", "for", "from", "from_sort", "header_line", "indexes", "limit", "max_new_shelves",
        "max_rejects", "mode", "on_error", "products", "profile", "prune", "recompute", "separator", "since",
        "size_from_name", "subject", "ticket", "to", "to_sort", "until",
        // Words of this feature.
        "all", "any", "attribute", "none", "unknown", "unreadable",
    ]
}
