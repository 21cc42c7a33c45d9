internal import Catalog
internal import LibPQ

extension SortKey {
    /// The column of `placement` with the sort value (of `placement_position` for the manual order).
    var column: SQL {
        switch self {
        case .price: "price_minor"
        case .unitPrice: "unit_price"
        case .popularity: "popularity_log2"
        case .brand: "brand"
        case .name: "name"
        case .created: "created_at"
        case .modified: "modified_at"
        case .tags: "tag_count"
        case .position: "key"
        }
    }

    /// The index with the order of a shelf by this key.
    var index: String { self == .position ? "placement_position_key_unique" : "placement_by_\(name)" }

    /// The definition of that index, as a migration must have created it.
    var indexDefinition: String {
        if self == .position {
            return "CREATE UNIQUE INDEX \(index) ON placement_position (store_id, shelf_id, is_removed, key)"
        }
        let group = isGroupedByDimension ? "unit_dimension, " : ""
        let direction = naturalDirection == .descending ? " DESC" : ""
        let own = self == .name ? "" : "\(column.text)\(direction), "
        return "CREATE INDEX \(index) ON placement (store_id, shelf_id, availability, \(group)\(own)name, sku)"
    }
}
