internal import Catalog
internal import LibPQ

extension SortKey {
    /// The column with the sort value: of `placement`, and of the table with the key's index.
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

    /// The table that has the key's index. Values that change independently have their own table, so that a change writes to few
    /// indexes.
    var table: SQL {
        switch self {
        case .popularity: "placement_popularity"
        case .position: "placement_position"
        default: "placement"
        }
    }

    /// The index with the order of a shelf by this key.
    var index: String {
        switch self {
        case .popularity: "placement_popularity_order"
        case .position: "placement_position_key_unique"
        default: "placement_by_\(name)"
        }
    }

    /// The definition of that index, as a migration must have created it.
    var indexDefinition: String {
        if self == .position {
            return "CREATE UNIQUE INDEX \(index) ON \(table.text) (store_id, shelf_id, is_removed, key)"
        }
        let group = isGroupedByDimension ? "unit_dimension, " : ""
        let direction = naturalDirection == .descending ? " DESC" : ""
        let own = self == .name ? "" : "\(column.text)\(direction), "
        return "CREATE INDEX \(index) ON \(table.text) (store_id, shelf_id, availability, \(group)\(own)name, sku)"
    }
}
