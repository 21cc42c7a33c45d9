internal import Catalog
internal import LibPQ

/// Assembles the statements of a page's ranges.
struct PageStatementWriter {
    typealias Slot = PageStatement.Slot
    typealias Template = SQLTemplate<Slot>

    let shape: PageStatement.Shape

    private var sort: Sort { shape.sort }
    private var isSingle: Bool { sort.terms.count == 1 }
    private var readsPositions: Bool { sort.terms.contains { $0.key == .position } }
    private var leadsWithPopularity: Bool { sort.terms[0].key == .popularity && shape.access != .scan }
    /// The table whose index has the order, apart from the manual order: `placement p` or `placement_popularity r`.
    private var ordered: SQL { leadsWithPopularity ? "r" : "p" }

    /// The statement of each range, in order.
    var templates: [Template] { conditions().map { range($0) } }

    private func range(_ conditions: [Template]) -> Template {
        let columns: SQL =
            switch shape.columns {
            case .product: readsPositions ? "\(ProductRow.columns("p")), o.key" : ProductRow.columns("p")
            case .sku: readsPositions && isSingle ? "o.sku" : "\(ordered).sku"
            }
        let isPlainOrder = shape.columns == .sku && shape.filter.isEmpty
        let source: Template
        let scope: Template
        if readsPositions, isSingle {
            source =
                isPlainOrder ? "placement_position o" : "placement_position o \(placements(of: "o"))"
            scope = "o.store_id = \(.store) AND o.shelf_id = \(.shelf) AND NOT o.is_removed"
        } else {
            let placements: Template =
                if leadsWithPopularity {
                    isPlainOrder && isSingle
                        ? "placement_popularity r" : "placement_popularity r \(placements(of: "r"))"
                } else { "placement p" }
            let positions: Template = """
                CROSS JOIN LATERAL (SELECT o.key FROM placement_position o WHERE \(key("o", of: ordered)) LIMIT 1) AS o
                """
            source = readsPositions ? "\(placements) \(positions)" : placements
            scope = "\(ordered).store_id = \(.store) AND \(ordered).shelf_id = \(.shelf)"
        }
        // An ordered index scan cannot use several values, so the filtered brands are scanned in sequence.
        let walksBrands = shape.walksBrands && !conditions.contains("p.brand IS NULL")
        let rest = walksBrands ? shape.filter.without([.brand]) : shape.filter
        let left: [Template] =
            shape.access == .scan
            ? rest.visibleConditions { .filter($0, $1) }
            : rest.conditions(along: sort.terms[0].key.column) { .filter($0, $1) }
        let filter = ([scope] + conditions + left).joined(" AND ")
        let limit: Template = shape.isWhole ? "" : " LIMIT \(.limit)"
        if [.boundedWalk, .endOfWalk, .lengthOfWalk].contains(shape.access) {
            // Conditions on the sort's own column narrow the range.
            let own = shape.filter.keys.filter { !shape.looksUpRows && $0.column == sort.terms[0].key.column }
            let range: [Template] =
                [scope] + conditions + shape.filter.only(Set(own)).visibleConditions { Slot.filter($0, $1) }
            let others: [Template] = shape.filter.without(own).conditions { Slot.filter($0, $1) }
            return boundedWalk(columns, range.joined(" AND "), others, limit)
        }
        if walksBrands {
            let brands: Template =
                "unnest(\(.filter(.brand, .value))) AS g ORDER BY g COLLATE catalog\(keyword(sort.terms[0].direction))"
            return """
                SELECT \(columns) FROM (SELECT g FROM \(brands)) AS b CROSS JOIN LATERAL (
                    SELECT * FROM \(source) WHERE \(filter) AND p.brand = b.g ORDER BY \(order())\(limit)) AS p\(limit)
                """
        }
        if shape.access == .scan, !readsPositions { return scan(columns, scope, conditions, limit) }
        return "SELECT \(columns) FROM \(source) WHERE \(filter) ORDER BY \(order())\(limit)"
    }

    /// Returns a statement on the first rows of a range, of which the filter keeps some.
    private func boundedWalk(_ columns: SQL, _ range: Template, _ filter: [Template], _ limit: Template) -> Template {
        let (table, alias): (SQL, SQL) =
            if !shape.looksUpRows { ("placement", "p") } else if readsPositions { ("placement_position", "o") } else {
                ("placement_popularity", "r")
            }
        let walk: Template = "FROM \(table) \(alias) WHERE \(range) ORDER BY \(order())"
        let rows: Template = shape.looksUpRows ? "\(alias) \(placements(of: alias))" : "\(alias)"
        switch shape.access {
        case .endOfWalk: return "SELECT \(columns) FROM (SELECT * \(walk) OFFSET \(.walked) - 1 LIMIT 1) AS \(rows)"
        case .lengthOfWalk: return "SELECT count(*) FROM (SELECT 1 \(walk) LIMIT \(.walked)) AS walked"
        default:
            let kept: Template = filter.isEmpty ? "" : "WHERE \(filter.joined(" AND ")) "
            return """
                SELECT \(columns) FROM (SELECT * \(walk) LIMIT \(.walked)) AS \(rows) \(kept)ORDER BY \(order())\(limit)
                """
        }
    }

    /// Returns the statement that reads all rows that the filter keeps, along its index, and sorts them.
    private func scan(_ columns: SQL, _ scope: Template, _ conditions: [Template], _ limit: Template) -> Template {
        // OFFSET 0 keeps the planner from walking the order's index instead, and hides the conditions of the range, except for the
        // availability, with which every index begins. Equality with one brand leaves the planner no other index.
        let levels = sort.respectsAvailability ? 1 : 0
        let isOfBrands = if case .texts(some: true, none: false)? = shape.filter.kinds[.brand] { true } else { false }
        let brands: Template =
            isOfBrands ? "unnest(\(.filter(.brand, .value))) AS b (brand) CROSS JOIN LATERAL " : ""
        let rest = isOfBrands ? shape.filter.without([.brand]) : shape.filter
        let kept =
            [scope] + conditions.prefix(levels) + rest.visibleConditions { Slot.filter($0, $1) }
            + (isOfBrands ? ["p.brand = b.brand"] : [])
        let shown = conditions.isEmpty ? ["true"] : Array(conditions)
        return """
            SELECT \(columns) FROM \(brands)(
                SELECT * FROM placement p WHERE \(kept.joined(" AND ")) OFFSET 0) AS p
            WHERE \(shown.joined(" AND ")) ORDER BY \(order())\(limit)
            """
    }

    /// Returns a join of the placements of another table's rows. Each of them is looked up by its key, although the planner may expect a
    /// shelf so small that it is joined and sorted as a whole.
    private func placements(of other: SQL) -> Template {
        "CROSS JOIN LATERAL (SELECT * FROM placement p WHERE \(key("p", of: other)) LIMIT 1) AS p"
    }

    /// Returns the condition that finds a row by its key, as `PlacementStatements.key` does.
    private func key(_ row: SQL, of other: SQL) -> Template {
        "\(row).store_id = \(.store) AND \(row).sku = \(other).sku AND \(row).shelf_id + 0 = \(other).shelf_id"
    }

    // MARK: - Ranges

    /// The conditions of each range, in order.
    private func conditions() -> [[Template]] {
        guard sort.respectsAvailability else { return ranges(cursor: shape.cursor) }
        let own = shape.cursor.map { $0.isSoldOut ? 1 : 0 }
        var result: [[Template]] = []
        for level in levels where level >= own ?? 0 {
            result += ranges(cursor: level == own ? shape.cursor : nil).map {
                ["\(ordered).availability = \(level)"] + $0
            }
        }
        // The cursor is after all filtered rows: nothing is left.
        return result.isEmpty ? [["false"]] : result
    }

    /// The availability levels that the filter can match.
    private var levels: [Int] {
        switch shape.filter.kinds[.inStock] {
        case .flag(true): [0]
        case .flag(false): shape.sortsSoldOutLast ? [1] : [0]
        default: [0, 1]
        }
    }

    /// Returns the ranges within one availability level: the groups of the first key.
    private func ranges(cursor: PageStatement.CursorShape?) -> [[Template]] {
        let first = sort.terms[0]
        guard let cursor else { return groups(of: first.key, from: 0).map { [$0].compactMap { $0 } } }
        let own = groupIndex(0, cursor)
        var result = rangesInGroup(cursor)
        result += groups(of: first.key, from: own + 1).map { [$0].compactMap { $0 } }
        return result
    }

    /// Returns the conditions of a key's groups, from an index on; nil if there is only one group.
    private func groups(of key: SortKey, from start: Int) -> [Template?] {
        if key.isGroupedByDimension {
            var result: [Template?] = []
            for index in start..<max(start, Dimension.allCases.count) {
                result.append("p.unit_dimension = \(.dimension(index))")
            }
            if start <= Dimension.allCases.count { result.append("p.unit_dimension IS NULL AND p.unit_price IS NULL") }
            return result
        }
        let column = column(key)
        let all: [Template?] = key.canBeMissing ? ["\(column) IS NOT NULL", "\(column) IS NULL"] : [nil]
        return Array(all.dropFirst(start))
    }

    private func groupIndex(_ term: Int, _ cursor: PageStatement.CursorShape) -> Int {
        let key = sort.terms[term].key
        if key.isGroupedByDimension { return cursor.isMissing[term] ? Dimension.allCases.count : cursor.group[term] }
        return cursor.isMissing[term] ? 1 : 0
    }

    /// Returns the ranges after the cursor within its group of the first key, innermost first: all keys equal, then
    /// the tie-breaker greater; all but the last equal and the last greater; and so on.
    private func rangesInGroup(_ cursor: PageStatement.CursorShape) -> [[Template]] {
        let term = sort.terms[0]
        let isMissing = cursor.isMissing[0]
        if isSingle {
            let group = groupCondition(0, cursor)
            if term.key == .position { return [["o.key > \(cursorValue(0))"]] }
            if isMissing || term.key == .name { return [group + [tieBreakerCondition()]] }
            if term.direction == sort.tieBreakerDirection {
                // All directions agree: one row comparison, one index range.
                let row: SQL = "(\(column(term.key)), \(ordered).name, \(ordered).sku)"
                return [
                    group + ["\(row) \(comparison(term.direction)) (\(cursorValue(0)), \(.name), \(.sku))"]
                ]
            }
        }
        var result: [[Template]] = []
        var equalities: [[Template]] = []
        for index in sort.terms.indices { equalities.append(equality(index, cursor)) }
        result.append(equalities.flatMap { $0 } + [tieBreakerCondition()])
        for index in sort.terms.indices.dropFirst().reversed() {
            if let after = afterCondition(index, cursor) {
                var prefix: [Template] = []
                for earlier in 0..<index { prefix += equality(earlier, cursor) }
                result.append(prefix + [after])
            }
        }
        if !isMissing {
            let strictly: Template = "\(column(term.key)) \(comparison(term.direction)) \(cursorValue(0))"
            result.append((term.key.isGroupedByDimension ? groupCondition(0, cursor) : []) + [strictly])
        }
        return result
    }

    /// Returns the condition of the cursor's own group of a key.
    private func groupCondition(_ term: Int, _ cursor: PageStatement.CursorShape) -> [Template] {
        let key = sort.terms[term].key
        if key.isGroupedByDimension {
            return cursor.isMissing[term]
                ? ["p.unit_dimension IS NULL", "p.unit_price IS NULL"]
                : ["p.unit_dimension = \(.dimension(cursor.group[term]))"]
        }
        return cursor.isMissing[term] ? ["\(column(key)) IS NULL"] : []
    }

    private func equality(_ term: Int, _ cursor: PageStatement.CursorShape) -> [Template] {
        let group = groupCondition(term, cursor)
        return cursor.isMissing[term] ? group : group + ["\(column(sort.terms[term].key)) = \(cursorValue(term))"]
    }

    /// Returns the condition of rows after the cursor by a key; nil if there are none.
    private func afterCondition(_ term: Int, _ cursor: PageStatement.CursorShape) -> Template? {
        guard !cursor.isMissing[term] else { return nil }
        let (key, direction) = (sort.terms[term].key, sort.terms[term].direction)
        let strictly: Template = "\(column(key)) \(comparison(direction)) \(cursorValue(term))"
        if key.isGroupedByDimension {
            let own: Template = "p.unit_dimension = \(.dimension(cursor.group[term])) AND \(strictly)"
            let later: Template = "\(dimensionRank()) > \(cursor.group[term] + 1)"
            return "(\(own) OR \(later) OR p.unit_dimension IS NULL)"
        }
        return key.canBeMissing ? "(\(strictly) OR \(column(key)) IS NULL)" : strictly
    }

    private func tieBreakerCondition() -> Template {
        "(\(ordered).name, \(ordered).sku) \(comparison(sort.tieBreakerDirection)) (\(.name), \(.sku))"
    }

    // MARK: - Order

    private func order() -> Template {
        var parts: [Template] = []
        for (index, term) in sort.terms.enumerated() {
            if index == 0 {
                // Within a group, the first key is either always present or always missing, so the index order applies.
                if term.key.isGroupedByDimension { parts.append("p.unit_dimension\(keyword(term.direction))") }
            } else if term.key.isGroupedByDimension {
                parts.append(dimensionRank())
            } else if term.key.canBeMissing {
                parts.append("(\(column(term.key)) IS NULL)")
            }
            parts.append("\(column(term.key))\(keyword(term.direction))")
        }
        if isSingle, sort.terms[0].key == .position { return parts[0] }
        if sort.terms.last!.key != .name || sort.terms.last!.direction != sort.tieBreakerDirection || !isSingle {
            parts.append("\(ordered).name\(keyword(sort.tieBreakerDirection))")
        }
        parts.append("\(ordered).sku\(keyword(sort.tieBreakerDirection))")
        return parts.joined()
    }

    /// Returns SQL for the rank of a row's dimension in the group order, from 1; null sorts last.
    private func dimensionRank() -> Template {
        var dimensions: [Template] = []
        for index in Dimension.allCases.indices { dimensions.append("\(.dimension(index))") }
        return "array_position(ARRAY[\(dimensions.joined())], p.unit_dimension)"
    }

    private func column(_ key: SortKey) -> SQL {
        switch key {
        case .position: "o.\(key.column)"
        case .popularity: "\(ordered).\(key.column)"
        default: "p.\(key.column)"
        }
    }
    private func keyword(_ direction: SortDirection) -> SQL { direction == .descending ? " DESC" : "" }
    private func comparison(_ direction: SortDirection) -> SQL { direction == .ascending ? ">" : "<" }

    /// Returns SQL for the cursor's value of a key.
    private func cursorValue(_ term: Int) -> Template {
        let value: Template = "\(.value(term))"
        guard sort.terms[term].key == .position else { return value }
        // Check in the page's own snapshot whether keys were compacted, and look up the product's current key then.
        let shelf: Template = "g.store_id = \(.store) AND g.shelf_id = \(.shelf)"
        let generation: Template = "(SELECT g.key_generation FROM shelf g WHERE \(shelf)) = \(.generation)"
        let place: Template = "c.store_id = \(.store) AND c.sku = \(.sku) AND c.shelf_id + 0 = \(.shelf)"
        let found: Template = "coalesce((SELECT c.key FROM placement_position c WHERE \(place)), \(value))"
        return "CASE WHEN \(generation) THEN \(value) ELSE \(found) END"
    }
}
