internal import CatalogJSON
internal import Catalog
internal import LibPQ

/// The statements that read a page, derived from a sort's definition: one for each range of the sort's index, in order,
/// from the cursor on.
///
/// What never turns (availability, missing values, a unit price's dimensions) cuts an order into a handful of groups
/// that follow one another; inside a group the index alone gives the order. A page asks for its first range, and for
/// further ones only where that is too short. The texts depend only on the sort and on what kind of values the cursor has,
/// never on the values.
struct PageStatement: Sendable {
    /// What a parameter of the text stands for.
    enum Slot: Hashable, Sendable {
        case store, shelf, limit
        /// The i-th dimension in the plan's order of groups.
        case dimension(Int)
        /// The cursor's value of the i-th key.
        case value(Int)
        case name, sku
        /// A part of what the filter compares by a key.
        case filter(FilterKey, FilterShape.Part)
        /// The cursor's generation of keys.
        case generation
    }

    /// What the text depends on.
    struct Shape: Hashable, Sendable {
        let sort: Sort
        let cursor: CursorShape?
        var filter = FilterShape.none
        /// Whether what is sold out stands behind all else; looked at only where a filter asks for what is sold out.
        var sortsSoldOutLast = true
        var columns: Columns = .product
        /// Whether there is no limit.
        var isWhole = false
    }

    enum Columns: Hashable, Sendable {
        /// All that a page shows.
        case product
        /// Only ids.
        case sku
    }

    struct CursorShape: Hashable, Sendable {
        let isSoldOut: Bool
        let isMissing: [Bool]
        /// For a unit price, its dimension's place in the order of groups.
        let group: [Int]
    }

    /// What one range is read by.
    struct Range: Sendable {
        let statement: PostgresStatement
        let slots: [Slot]
    }

    /// At least one.
    let ranges: [Range]

    init(_ shape: Shape) {
        ranges = PageStatementWriter(shape: shape).templates.map {
            let (statement, slots) = $0.statement
            return Range(statement: statement, slots: slots)
        }
    }

    /// A range's statement with its parameters.
    ///
    /// - Parameter limit: the most rows; not looked at by statements without a limit.
    func query(_ range: Int, _ plan: PagePlan, _ shelf: ShelfHead, limit: Int) -> PostgresQuery {
        let (statement, slots) = (ranges[range].statement, ranges[range].slots)
        return PostgresQuery(statement, parameters(slots, plan, shelf.location, Int64(limit)))
    }

    private func parameters(
        _ slots: [Slot],
        _ plan: PagePlan,
        _ shelf: ShelfLocation,
        _ limit: Int64
    ) -> [PostgresValue] {
        let groups = plan.dimension.groupOrder
        return slots.map { slot in
            switch slot {
            case .store: .int4(shelf.storeID)
            case .shelf: .int4(shelf.shelfID)
            case .limit: .int8(limit)
            case .dimension(let index): .int2(Int16(groups[index].ordinal))
            case .value(let index): plan.after!.values[index].parameter(of: plan.sort.terms[index].key)
            case .name: .text(plan.after!.name)
            case .sku: .text(plan.after!.id)
            case .filter(let key, let part): plan.view.filter.parameter(key, part, in: plan.currency)
            case .generation: .int4(Int32(truncatingIfNeeded: plan.after!.keyGeneration))
            }
        }
    }
}

extension PageStatement.Shape {
    init(_ plan: PagePlan, columns: PageStatement.Columns = .product, isWhole: Bool = false) {
        let groups = plan.dimension.groupOrder
        let filter = FilterShape(plan.view.filter)
        self.init(
            sort: plan.sort,
            cursor: plan.after.map { cursor in
                PageStatement.CursorShape(
                    isSoldOut: cursor.isSoldOut,
                    isMissing: cursor.values.map { $0 == .missing },
                    group: cursor.values.map { value in
                        if case .unitPrice(let dimension, _) = value { groups.firstIndex(of: dimension)! } else { 0 }
                    }
                )
            },
            filter: filter,
            sortsSoldOutLast: filter.kinds[.inStock] != .flag(false) || plan.sortsSoldOutLast,
            columns: columns,
            isWhole: isWhole
        )
    }
}

extension SortValue {
    /// The value as a parameter of its key's type.
    fileprivate func parameter(of key: SortKey) -> PostgresValue {
        switch self {
        case .missing: .int8(nil)
        case .integer(let value):
            switch key {
            case .created, .modified: .timestamptz(value)
            case .tags: .int2(Int16(truncatingIfNeeded: value))
            default: .int8(value)
            }
        case .unitPrice(_, let digits): .numeric(digits)
        case .real(let value): .float8(value)
        case .text(let value): .text(value)
        case .bytes(let value): .bytea(value)
        }
    }
}
