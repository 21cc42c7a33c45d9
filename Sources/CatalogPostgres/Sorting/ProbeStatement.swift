internal import Catalog
internal import LibPQ

/// The statement that counts the products that a filter key keeps, up to a limit, along the key's own index.
struct ProbeStatement: Sendable {
    struct Shape: Hashable, Sendable {
        let key: FilterKey
        let filter: FilterShape
        let limit: Int

        init(_ key: FilterKey, _ filter: Filter, limit: Int) {
            self.key = key
            self.filter = FilterShape(filter).only([key])
            self.limit = limit
        }
    }

    let statement: PostgresStatement
    private let slots: [FilterSlot]

    /// The keys of a filter that have an index, the most selective kinds first.
    static func keys(of filter: Filter) -> [FilterKey] {
        let indexed: [FilterKey] = [
            .brand, .priceMin, .priceMax, .createdAfter, .createdBefore, .modifiedAfter, .modifiedBefore, .unitPriceMax,
        ]
        return indexed.filter { key in
            // The probe compares with one brand at a time, which a missing brand does not equal.
            if case .texts(_, none: true)? = FilterShape(filter).kinds[key] { return false }
            return filter[key] != nil
        }
    }

    init(_ shape: Shape) {
        typealias Template = SQLTemplate<FilterSlot>
        let scope: Template = "p.store_id = \(.store) AND p.shelf_id = \(.shelf) AND p.availability = a.level"
        // A range of the index for each brand, because PostgreSQL reads all brands of a shelf for several of them.
        let (groups, condition): (Template, Template) =
            shape.key == .brand
            ? ("CROSS JOIN unnest(\(.filter(.brand, .value))) AS b (brand)", "p.brand = b.brand")
            : ("", shape.filter.visibleConditions { .filter($0, $1) }.joined(" AND "))
        let template: Template = """
            SELECT count(*) FROM (
                SELECT 1 FROM unnest('{0,1}'::smallint[]) AS a (level) \(groups) CROSS JOIN LATERAL (
                    SELECT 1 FROM placement p WHERE \(scope) AND \(condition) LIMIT \(shape.limit)) AS p
                LIMIT \(shape.limit)) AS kept
            """
        (statement, slots) = template.statement(named: "ProbeStatement")
    }

    func parameters(_ plan: PagePlan, _ shelf: ShelfLocation) -> [PostgresValue] {
        slots.map { $0.parameter(plan, shelf) }
    }
}
