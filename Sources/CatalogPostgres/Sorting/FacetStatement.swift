internal import Catalog
internal import LibPQ

/// The statement that counts the facets of a shelf. Each facet's counts ignore its own filter. One pass over the
/// remaining products, and another one for tags, because a product can have several.
struct FacetStatement: Sendable {
    struct Shape: Hashable, Sendable {
        let filter: FilterShape
        let facets: Set<Facet>

        init(_ plan: PagePlan) {
            filter = FilterShape(plan.view.filter)
            facets = plan.facets
        }
    }

    let statement: PostgresStatement
    private let slots: [FilterSlot]
    /// The facets whose value is a column, in statement order.
    private let grouped: [Facet]

    private static func column(_ facet: Facet) -> SQL? {
        switch facet {
        case .brand: "p.brand"
        case .inStock: "p.in_stock"
        case .price: "p.price_minor"
        case .tag: nil
        }
    }

    init(_ shape: Shape) {
        typealias Template = SQLTemplate<FilterSlot>
        func conditions(_ filter: FilterShape) -> [Template] { filter.conditions { .filter($0, $1) } }
        let facets = Facet.allCases.filter(shape.facets.contains)
        let grouped = facets.filter { Self.column($0) != nil }
        // The filters that apply to all facets; the others are ignored for one facet each.
        let facetKeys = Set(facets.flatMap(\.keys))
        let scope: [Template] = ["p.store_id = \(.store)", "p.shelf_id = \(.shelf)"]
        let common = scope + conditions(shape.filter.without(facetKeys))
        func count(_ own: Set<FilterKey>) -> Template {
            let rest = conditions(shape.filter.only(facetKeys.subtracting(own)))
            return rest.isEmpty ? "count(*)" : "count(*) FILTER (WHERE \(rest.joined(" AND ")))"
        }
        func shown(_ facet: Facet) -> SQL { grouped.contains(facet) ? Self.column(facet)! : "NULL" }
        let columns = grouped.map { Self.column($0)! }
        let grouping: SQL = grouped.isEmpty ? "0" : "GROUPING(\(columns.joined()))"
        let own = grouped.enumerated().map { index, facet -> Template in
            "WHEN \(Self.mask(index, of: grouped.count)) THEN \(count(facet.keys))"
        }
        let counted: Template = own.isEmpty ? count([]) : "CASE \(grouping) \(own.joined(" ")) ELSE \(count([])) END"
        let sets = (["()"] + columns.map { "(\($0))" as SQL }).joined()
        var branches: [Template] = [
            """
            SELECT \(grouping)::bigint AS grouping, coalesce(\(shown(.brand)), '') AS value, \(shown(.inStock))::boolean AS flag,
                \(shown(.price))::bigint AS price, \(counted) AS count
            FROM placement p WHERE \(common.joined(" AND "))
            GROUP BY GROUPING SETS (\(sets))
            """
        ]
        if facets.contains(.tag) {
            let rest = scope + conditions(shape.filter.without(Facet.tag.keys))
            branches.append(
                """
                SELECT NULL, t.tag, NULL, NULL, count(*)
                FROM placement p
                CROSS JOIN LATERAL unnest(CASE WHEN p.tag_count = 0 THEN ARRAY[''] ELSE p.tags END) AS t (tag)
                WHERE \(rest.joined(" AND ")) GROUP BY t.tag
                """
            )
        }
        let template: Template = """
            SELECT f.grouping, f.value, f.flag, f.price, f.count
            FROM (\(branches.joined("\nUNION ALL\n"))) AS f
            WHERE f.count > 0 ORDER BY f.count DESC, f.value COLLATE catalog, f.price
            """
        (statement, slots) = template.statement(named: "FacetStatement")
        self.grouped = grouped
    }

    /// Returns the `GROUPING` value of a facet's rows: one bit per column that they are not grouped by.
    private static func mask(_ index: Int, of count: Int) -> Int { (1 << count) - 1 - (1 << (count - 1 - index)) }

    func parameters(_ plan: PagePlan, _ shelf: ShelfLocation) -> [PostgresValue] {
        slots.map { $0.parameter(plan, shelf) }
    }

    func read(_ rows: borrowing PostgresRows, _ plan: PagePlan) throws -> Facets {
        var facets = Facets(counted: plan.facets)
        try rows.forEach { row in
            let count = try row.int(4)
            // The tags are counted by another branch of the statement, which has no grouping.
            guard let grouping = try row.int8OrNil(0) else {
                facets.tags.append(.init(try row.text(1), count))
                return
            }
            let facet = grouped.indices.first { Self.mask($0, of: grouped.count) == grouping }.map { grouped[$0] }
            switch facet {
            case .brand: facets.brands.append(.init(try row.text(1), count))
            case .inStock: if try row.bool(2) { facets.inStock = count } else { facets.soldOut = count }
            case .price:
                if row.isNull(3) {
                    facets.unpriced = count
                } else {
                    facets.prices.append(.init(try row.int8(3), count))
                }
            case .tag: preconditionFailure("tags are not counted by a column")
            case nil: facets.total = count
            }
        }
        facets.prices.sort { $0.minor < $1.minor }
        return facets
    }
}
