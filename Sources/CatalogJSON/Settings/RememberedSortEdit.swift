package import JSON
package import Catalog

/// A request to remember a sort for a shelf: `{"sort":"-price","filter":{…},"transition_limit":24}`.
///
/// Filters by attributes are left out unless `remember_attributes` is true, because they may be personal.
package struct RememberedSortEdit: Sendable {
    package let rememberedSort: RememberedSort
    /// The window of the diff from the previous sort; nil for no diff.
    package let transitionLimit: Int?

    /// - Throws: `malformed`, `unprocessable`, `unknownSortKey`.
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        reader.ignore("revision", "modified_at", "transition")
        let sort = try reader.sort("sort")
        let filter = try reader.value("filter").map { json throws(CatalogError) in try Filter(json: json) } ?? .none
        let remembersAttributes = try reader.bool(RememberedSort.consent) ?? false
        transitionLimit = try reader.integer("transition_limit").map { Int($0) }
        try reader.end()
        guard let sort else {
            throw .unprocessable(field: "sort", detail: "sort is required; use DELETE to return to the default")
        }
        rememberedSort = RememberedSort(sort, remembersAttributes ? filter : filter.withoutAttributes)
        if let limit = transitionLimit, !(1...DiffRequest.windowLimit).contains(limit) {
            throw .unprocessable(
                field: "transition_limit",
                detail: "transition_limit must be between 1 and \(DiffRequest.windowLimit)"
            )
        }
    }
}

extension Setting {
    /// Returns a remembered sort in the API's format.
    ///
    /// - Parameter transition: the diff from the previous sort, as JSON.
    package func sortJSON(transition: [UInt8]? = nil) -> [UInt8] {
        JSONWriter.object { json in
            if let rememberedSort {
                json.field("sort", rememberedSort.sort.description)
                json.field("filter", json: rememberedSort.filter.isEmpty ? "null" : rememberedSort.filter.json.text)
            }
            json.field("revision", revision)
            json.field("modified_at", modifiedAt.rfc3339)
            if let transition { json.field("transition", json: String(decoding: transition, as: UTF8.self)) }
        }
    }
}
