/// The name of an attribute: `[a-z][a-z0-9_]{0,31}`.
package struct AttributeName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    package init?(_ text: some StringProtocol) {
        guard (1...32).contains(text.utf8.count), text.utf8.first.map(Self.isLetter) == true,
            text.utf8.allSatisfy({ Self.isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        self.text = String(text)
    }

    /// Creates the name of a stored attribute. A later release may allow other names.
    package init(stored text: String) { self.text = text }

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

    /// The names of sort keys, filters, facets, columns of files, properties and parameters of the API, also of planned ones.
    package static let reserved: Set<String> = {
        var names = Set(SortKey.allCases.map(\.name))
        names.formUnion(FilterKey.allCases.map(\.name))
        names.formUnion(Facet.allCases.map(\.name))
        names.formUnion(ImportColumn.allCases.map(\.columnName))
        names.formUnion(ProductText.allCases.map { $0.name.description })
        return names.union(words)
    }()

    /// The names that no enumeration has. Tests compare them with the parameters and properties of the API.
    private static let words: Set<String> = [
        // Properties and parameters of the API.
        "accepted", "action", "actor", "address", "after", "allowed", "amount", "applied", "approximate", "at",
        "attributes_unreadable",
        "audit", "auto_sort", "before", "buckets", "built_in", "change", "changed", "changed_at", "changes",
        "checked", "checked_count", "collapses_groups", "collation", "column", "columns", "confirm", "confirm_prune",
        "conflicts",
        "count", "create_store", "created_after", "created_at", "created_before", "cursor", "customer", "day",
        "days", "decimal_mark", "decimals", "decimals_rounded", "declared_by", "default_sort", "deleted",
        "deletes", "denominator", "detail", "diff", "dimension", "dry_run", "encoding", "entries", "event_id",
        "expires_at", "facets", "fields_emptied", "file", "filter", "filter_options", "for", "format", "from",
        "from_after", "from_sort", "from_version", "guest_token", "header_line", "hint", "id", "ids",
        "images_ignored", "include", "includes_descendants", "index", "indexes", "inserted", "inserts", "is", "item",
        "item_count", "items", "kept", "key", "keys", "kind", "language", "limit", "line", "list", "lists",
        "locale", "max", "max_new_shelves", "max_rejects", "members", "merged", "min", "missing", "mode",
        "modified_after", "modified_at", "modified_before", "more", "moves", "natural", "new_count",
        "newcomer_boost", "next_cursor", "note", "number", "numerator", "old_count", "on_error", "op", "order",
        "order_changes", "order_version", "packs", "page", "parameter", "parent", "path", "per", "place",
        "popularity_half_life_days", "popularity_metric", "position_source", "preview",
        "price_includes_deposit", "price_minor", "prices_rounded", "prices_unknown", "prices_zero", "product",
        "product_count", "products", "profile", "profiles", "promotions_expired", "promotions_future", "prune",
        "purchases", "quantity", "quotes", "read", "reason", "records", "regular_price_minor", "rejected",
        "rejects", "remaining", "removed", "removed_by_shelf", "removed_placements", "removed_products",
        "repeatable", "repeated", "request_id", "resync", "revision", "role", "rows", "scale", "scope",
        "selected", "separator", "separators", "sessions", "settings", "share", "shares", "shelf_path",
        "shelves", "shelves_created", "since", "size_from_name", "sizes_approximate", "sizes_computed",
        "sizes_different", "sizes_unknown", "skipped", "skus_suspicious", "slug", "sold_out", "sort",
        "sort_options", "source", "status", "stock_kept", "stores_created", "storms", "subject", "terms",
        "text", "ticket", "title", "to", "to_after", "to_sort", "to_version", "token", "too_old", "total",
        "transition", "transition_limit", "type", "unchanged", "undoes", "undone_by", "unit_prices_implausible",
        "unit_pricing", "unknown", "unknown_sizes", "unknown_skus", "unpriced", "unreadable_attributes",
        "unreadable_products", "until",
        "updated", "user", "value", "values", "variants", "version", "warnings", "words",
        // Planned: prices, promotions and offers.
        "as_of", "base_price", "changes_at", "country", "deposit_minor", "discount", "ends_at", "feed", "n",
        "offer_price", "offer_unit_price", "offers", "on_promotion", "per_label", "price_context",
        "price_reductions", "prices", "prior", "prior_price_minor", "priority", "promotion", "promotions",
        "recompute", "schedule", "starts_at", "tier", "tiers", "time_zone", "total_minor", "unit_reference",
        // Searches.
        "begins_name", "class", "closeness", "completions", "did_you_mean", "field", "matches", "name_words", "one_way",
        "q", "query", "relevance", "searchable",
        "suggest", "suggestions", "synonyms",
        // Planned: curation.
        "bury", "curation", "draft", "every", "extends", "hidden", "hide", "history", "merchandising",
        "new_products", "pin", "pins", "placement", "publish", "rules", "slot", "slots", "usual", "usuals",
        // Groups and ranks.
        "collapse", "group", "ignored", "members_matching", "members_total", "neighbours", "of", "rank",
        "remember_attributes", "representative", "skus", "tuple", "uses",
        // Words of filters and facets.
        "all", "any", "attribute", "descendants", "facet", "filters", "none", "sorts", "stores", "unreadable",
    ]
}
