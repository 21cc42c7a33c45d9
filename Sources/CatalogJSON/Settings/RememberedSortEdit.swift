package import JSON
package import Catalog

/// A request to remember a sort for a shelf: `{"sort":"-price","filter":{…},"collapse":true,"transition_limit":24}`.
///
/// Filters by attributes are left out unless `remember_attributes` is true, because they may be personal.
package struct RememberedSortEdit: Sendable {
    /// The sort and the whole filter that the client sent.
    private let given: RememberedSort
    private let remembersAttributes: Bool
    /// The window of the diff from the previous sort; nil for no diff.
    package let transitionLimit: Int?

    /// - Throws: `malformed`, `unprocessable`, `unknownSortKey`.
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        reader.ignore("revision", "modified_at", "transition")
        let sort = try reader.sort("sort")
        let filter = try reader.value("filter").map { json throws(CatalogError) in try Filter(json: json) } ?? .none
        let collapsesGroups = try reader.bool(RememberedSort.collapse)
        remembersAttributes = try reader.bool(RememberedSort.consent) ?? false
        transitionLimit = try reader.integer("transition_limit").map { Int($0) }
        try reader.end()
        guard let sort else {
            throw .unprocessable(field: "sort", detail: "sort is required; use DELETE to return to the default")
        }
        given = RememberedSort(sort, filter, collapsesGroups: collapsesGroups)
        if let limit = transitionLimit, !(1...DiffRequest.windowLimit).contains(limit) {
            throw .unprocessable(
                field: "transition_limit",
                detail: "transition_limit must be between 1 and \(DiffRequest.windowLimit)"
            )
        }
    }

    /// Whether the sort or the filter is by an attribute, which `rememberedSort` looks up.
    package var namesAttributes: Bool { given.namesAttributes }

    /// Returns what to remember. The filters that are left out are checked, too, because a mistake in a name looks like an attribute.
    ///
    /// - Throws: `unknownSortKey` and `malformed` for an attribute that the store does not have, or that does not fit.
    package func rememberedSort(in attributes: ResolvedAttributes) throws(CatalogError) -> RememberedSort {
        try given.check(in: attributes)
        var kept = given
        if !remembersAttributes { kept.filter = given.filter.withoutAttributes }
        return kept
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
                if let collapsesGroups = rememberedSort.collapsesGroups { json.field("collapse", collapsesGroups) }
                // A client that sends back what it read keeps the filter.
                if rememberedSort.filter.namesAttributes { json.field("remember_attributes", true) }
            }
            json.field("revision", revision)
            json.field("modified_at", modifiedAt.rfc3339)
            if let transition { json.field("transition", json: String(decoding: transition, as: UTF8.self)) }
        }
    }
}
