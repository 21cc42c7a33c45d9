package import JSON
package import Catalog

extension ShelfState {
    package func write(
        options: [SortOption]? = nil,
        filters: [FilterOption]? = nil,
        to json: inout JSONWriter
    ) {
        json.object { json in
            json.field("key", shelf.key.text)
            json.field("title", shelf.title)
            json.field("parent", shelf.parent?.text)
            json.field("product_count", productCount)
            json.field("default_sort", shelf.defaultSort?.description)
            json.field("dimension", shelf.dimension?.rawValue)
            json.field("sold_out", shelf.soldOut?.rawValue)
            json.field("position_source", shelf.positionSource?.description)
            json.field("includes_descendants", shelf.includesDescendants)
            json.field("collapses_groups", shelf.collapsesGroups)
            json.field("modified_at", modifiedAt.rfc3339)
            json.field("version", version)
            json.field("order_version", orderVersion)
            if let options {
                json.array("sort_options", options) { json, option in
                    json.object { json in
                        json.field("sort", option.sort.description)
                        json.field("title", option.title)
                        json.field("selected", option.isSelected)
                    }
                }
            }
            if let filters { json.array("filter_options", filters) { $1.write(to: &$0) } }
        }
    }
}
