package import JSON
package import Catalog

extension Shelf {
    /// Parses a shelf from a body; server-generated fields are ignored.
    package init(key: CatalogKey, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("key", key.text)
        reader.ignore("product_count", "modified_at", "version", "order_version", "sort_options", "filter_options")
        var parent: CatalogKey?
        if let text = try reader.string("parent", bytes: 64) {
            parent = CatalogKey(text)
            if parent == nil { throw .unprocessable(field: "parent", detail: "parent must be \(CatalogKey.rule)") }
            if parent == key { throw .unprocessable(field: "parent", detail: "a shelf cannot be its own parent") }
        }
        self.init(
            key: key,
            title: try reader.nonBlankString("title", bytes: Shelf.titleLimit) ?? key.text,
            parent: parent,
            defaultSort: try reader.sort("default_sort"),
            dimension: try reader.choice("dimension"),
            soldOut: try reader.choice("sold_out"),
            positionSource: try reader.sort("position_source"),
            includesDescendants: try reader.bool("includes_descendants") ?? false,
            collapsesGroups: try reader.bool("collapses_groups") ?? false
        )
        try reader.end()
    }
}

extension Shelf {
    /// Returns the shelf after a merge patch (RFC 7396).
    ///
    /// - Throws: as `init(key:body:)`.
    package func merging(_ patch: JSONValue) throws(CatalogError) -> Shelf {
        try Shelf(key: key, body: JSONValue.object(settings).merging(patch))
    }
}
