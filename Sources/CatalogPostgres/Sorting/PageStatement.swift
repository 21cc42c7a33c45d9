internal import Catalog
internal import CatalogJSON
internal import LibPQ

/// The statements that read a page, derived from a sort's definition: one for each range of the sort's index, in order,
/// from the cursor on.
///
/// Criteria that are never reversed (availability, missing values, unit price dimensions) divide an order into a few
/// consecutive groups; within a group, the index gives the order. A page reads its first range, and
/// further ones only if that is too short. The texts depend only on the sort and on the kinds of the cursor's values,
/// never on the values.
struct PageStatement: Sendable {
    /// The meaning of a parameter.
    enum Slot: Hashable, Sendable {
        case store, shelf, limit
        /// The number of rows that a bounded walk reads.
        case walked
        /// The i-th dimension in the plan's order of groups.
        case dimension(Int)
        /// The cursor's value of the i-th key.
        case value(Int)
        case name, sku
        /// A part of a filter key's value.
        case filter(FilterKey, FilterShape.Part)
        /// The cursor's key generation.
        case generation
    }

    /// The properties that determine the statement's text.
    struct Shape: Hashable, Sendable {
        let sort: Sort
        let cursor: CursorShape?
        var filter = FilterShape.none
        /// Whether sold-out products sort last; only relevant if a filter selects sold-out products.
        var sortsSoldOutLast = true
        var columns: Columns = .product
        /// Whether there is no limit.
        var isWhole = false
        var access = Access.walk

        /// Whether a walk along the sort's index looks up each row in another table.
        var looksUpRows: Bool { sort.terms.count == 1 && sort.terms[0].key.table != SortKey.name.table }
        /// Whether the order by brand is read brand by brand, because the filter names several.
        var walksBrands: Bool {
            sort.terms.count == 1 && sort.terms[0].key == .brand && filter.isOneOfSeveral(.brand)
        }
        /// Whether an index has the whole order, so that a walk can end after a number of rows.
        var canBeBounded: Bool { sort.terms.count == 1 && !walksBrands }
    }

    /// The way to the rows of a range.
    enum Access: Hashable, Sendable {
        /// Along the index of the sort, until there are enough rows that the filter keeps.
        case walk
        /// The same, but at most `walked` rows. It may find too few.
        case boundedWalk
        /// The last row of such a walk, whether the filter keeps it or not; nothing if the range ends before.
        case endOfWalk
        /// The number of rows of such a walk.
        case lengthOfWalk
        /// Along the index of the filter, or all rows; those that the filter keeps are sorted.
        case scan
    }

    enum Columns: Hashable, Sendable {
        /// All columns of a page.
        case product
        /// Only ids.
        case sku
    }

    struct CursorShape: Hashable, Sendable {
        let isSoldOut: Bool
        let isMissing: [Bool]
        /// For a unit price, its dimension's index in the group order.
        let group: [Int]
    }

    /// The statement of one range.
    struct Range: Sendable {
        let statement: PostgresStatement
        let slots: [Slot]
    }

    /// The ranges; at least one.
    let ranges: [Range]

    init(_ shape: Shape) {
        ranges = PageStatementWriter(shape: shape).templates.map {
            let (statement, slots) = $0.statement(named: "PageStatement")
            return Range(statement: statement, slots: slots)
        }
    }

    /// Returns a range's statement with its parameters.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows; ignored by statements without a limit.
    ///   - walked: the maximum number of rows that a bounded walk reads; ignored by other statements.
    func query(
        _ range: Int,
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int,
        walked: Int = 0
    ) -> PostgresQuery {
        let (statement, slots) = (ranges[range].statement, ranges[range].slots)
        return PostgresQuery(statement, parameters(slots, plan, shelf.location, Int64(limit), Int64(walked)))
    }

    /// Returns the queries for the first page by a sort, on a shelf that does not exist.
    static func warmUp(_ sort: Sort) -> [PostgresQuery] {
        PageStatement(Shape(sort: sort, cursor: nil)).ranges.prefix(1).map { range in
            let parameters: [PostgresValue] = range.slots.map { slot in
                switch slot {
                case .limit: .int8(1)
                case .dimension(let index): .int2(Int16(index))
                default: .int4(0)
                }
            }
            return PostgresQuery(range.statement, parameters)
        }
    }

    private func parameters(
        _ slots: [Slot],
        _ plan: PagePlan,
        _ shelf: ShelfLocation,
        _ limit: Int64,
        _ walked: Int64
    ) -> [PostgresValue] {
        let groups = plan.dimension.groupOrder
        return slots.map { slot in
            switch slot {
            case .store: .int4(shelf.storeID)
            case .shelf: .int4(shelf.shelfID)
            case .limit: .int8(limit)
            case .walked: .int8(walked)
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
            case .price, .unitPrice, .popularity, .brand, .name, .position: .int8(value)
            }
        case .unitPrice(_, let digits): .numeric(digits)
        case .real(let value): .float8(value)
        case .text(let value): .text(value)
        case .bytes(let value): .bytea(value)
        }
    }
}
