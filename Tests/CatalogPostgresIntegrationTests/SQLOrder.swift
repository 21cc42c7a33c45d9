import Catalog
import LibPQ

@testable import CatalogPostgres

/// The order of a shelf as PostgreSQL sorts it: a second definition of the sorts, which shares nothing with the first.
enum SQLOrder {
    /// Returns the products of a shelf in the order of a sort.
    static func ids(
        _ shelf: LocatedHead,
        _ sort: Sort,
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        let (head, location) = (shelf.head, shelf.location)
        let rule = head.state.shelf.soldOut ?? head.store.soldOut
        var order: [String] = []
        if rule == .last, sort.terms[0].key != .position { order.append("r.in_stock DESC") }
        for term in sort.terms {
            order += criteria(term.key, term.direction, head.state.comparisonDimension)
        }
        let direction = tieDirection(sort.terms[0])
        order += ["r.name_key \(direction)", "r.name COLLATE \"C\" \(direction)", "r.sku \(direction)"]
        let statement: SQL = SQL(
            unchecked: """
                SELECT p.sku FROM placement p JOIN product r USING (store_id, sku)
                JOIN placement_position o USING (store_id, shelf_id, sku)
                WHERE p.store_id = $1 AND p.shelf_id = $2 ORDER BY \(order.joined(separator: ", "))
                """
        )
        return try connection.query(
            PostgresStatement(statement),
            [.int4(location.storeID), .int4(location.shelfID)]
        ) { try $0.map { try $0.text(0) } }
    }

    private static func tieDirection(_ first: Sort.Term) -> String {
        let descending: Set<SortKey> = [.popularity, .created, .modified, .tags]
        return descending.contains(first.key) == (first.direction == .descending) ? "ASC" : "DESC"
    }

    private static func criteria(_ key: SortKey, _ direction: SortDirection, _ dimension: Dimension) -> [String] {
        let way = direction == .ascending ? "ASC" : "DESC"
        func directed(_ values: String...) -> [String] { values.map { "\($0) \(way) NULLS LAST" } }
        return switch key {
        case .price: directed("r.price_minor")
        case .unitPrice: [group(dimension)] + directed("r.price_minor::numeric(60, 40) / r.base_quantity")
        case .popularity: directed("p.popularity_log2")
        case .brand: directed("r.brand_key", "r.brand COLLATE \"C\"")
        case .name: directed("r.name_key", "r.name COLLATE \"C\"")
        case .created: directed("r.created_at")
        case .modified: directed("r.modified_at")
        case .tags: directed("cardinality(r.tags)")
        case .position: directed("o.key")
        }
    }

    /// The groups by dimension: the shelf's first, then the others in their order, then products without a unit price.
    private static func group(_ dimension: Dimension) -> String {
        let own = Dimension.allCases.firstIndex(of: dimension)!
        return """
            CASE WHEN r.price_minor IS NULL OR r.base_quantity IS NULL THEN 100 WHEN r.size_dimension = \(own) THEN -1 \
            ELSE r.size_dimension END
            """
    }
}
