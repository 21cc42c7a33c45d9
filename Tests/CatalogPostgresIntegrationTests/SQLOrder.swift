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
        let descending: Set<String> = [
            "popularity", "created", "modified", "tags", "rating", "harvest", "worth",
        ]
        return descending.contains(first.key.name) == (first.direction == .descending) ? "ASC" : "DESC"
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
        case .relevance, .closeness: preconditionFailure("SQL has no relevance")
        case .attribute(let attribute): attribute.resolved.map { directed(value(of: $0)) } ?? []
        }
    }

    /// The value of an attribute in SQL; null without one. Texts are in the order of their bytes, so their collation is not compared here.
    private static func value(of attribute: ResolvedAttribute) -> String {
        let member = "r.attributes -> '\(attribute.name)'"
        func number(_ name: AttributeName, _ decimals: Int) -> String {
            let (value, text) = ("r.attributes -> '\(name)'", "(r.attributes ->> '\(name)')::numeric")
            return """
                CASE WHEN jsonb_typeof(\(value)) = 'number' AND scale(trim_scale(\(text))) <= \(decimals) \
                AND abs(\(text)) < 1e15 / 1e\(decimals) THEN \(text) END
                """
        }
        func operand(_ operand: AttributeRatio.Operand) -> String {
            switch operand {
            case .price: return "r.price_minor::numeric(80, 40)"
            case .quantity: return "r.base_quantity"
            case .number(let name):
                guard let found = attribute.operands.first(where: { $0.name == name }),
                    case .number(let decimals) = found.form
                else { return "NULL" }
                return "(\(number(name, decimals)))"
            }
        }
        switch attribute.form {
        case .number(let decimals): return number(attribute.name, decimals)
        case .enumeration(let options):
            let keys = options.map { "'\($0.key)'" }.joined(separator: ", ")
            return
                "CASE WHEN jsonb_typeof(\(member)) = 'string' THEN array_position(ARRAY[\(keys)], \(member) #>> '{}') END"
        case .boolean: return "CASE \(member) WHEN 'true' THEN 0 WHEN 'false' THEN 1 END"
        case .date:
            return
                "CASE WHEN jsonb_typeof(\(member)) = 'string' THEN nullif(\(member) #>> '{}', '2026-02-30')::date END"
        case .ratio(let ratio):
            let product = ratio.denominators.map(operand).joined(separator: " * ")
            return "(\(operand(ratio.numerator)))::numeric(80, 40) / nullif(\(product), 0)"
        case .text, .set, .unknown: return "NULL"
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
