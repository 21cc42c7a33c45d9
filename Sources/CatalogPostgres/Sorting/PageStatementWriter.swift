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
    private var leadsWithPopularity: Bool { sort.terms[0].key == .popularity }
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
        let isPlainOrder = shape.columns == .sku
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
        let condition = ([scope] + conditions).joined(" AND ")
        let limit: Template = shape.isWhole ? "" : " LIMIT \(.limit)"
        return "SELECT \(columns) FROM \(source) WHERE \(condition) ORDER BY \(order())\(limit)"
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
        for level in [0, 1] where level >= own ?? 0 {
            result += ranges(cursor: level == own ? shape.cursor : nil).map {
                ["\(ordered).availability = \(level)"] + $0
            }
        }
        return result
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
