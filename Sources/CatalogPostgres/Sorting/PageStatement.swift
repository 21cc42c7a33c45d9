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
        /// The i-th dimension in the plan's order of groups.
        case dimension(Int)
        /// The cursor's value of the i-th key.
        case value(Int)
        case name, sku
        /// The cursor's key generation.
        case generation
    }

    /// The properties that determine the statement's text.
    struct Shape: Hashable, Sendable {
        let sort: Sort
        let cursor: CursorShape?
        var columns: Columns = .product
        /// Whether there is no limit.
        var isWhole = false
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
    func query(
        _ range: Int,
        _ plan: PagePlan,
        _ shelf: ShelfHead,
        limit: Int
    ) -> PostgresQuery {
        let (statement, slots) = (ranges[range].statement, ranges[range].slots)
        return PostgresQuery(statement, parameters(slots, plan, shelf.location, Int64(limit)))
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
            case .generation: .int4(Int32(truncatingIfNeeded: plan.after!.keyGeneration))
            }
        }
    }
}

extension PageStatement.Shape {
    init(_ plan: PagePlan, columns: PageStatement.Columns = .product, isWhole: Bool = false) {
        let groups = plan.dimension.groupOrder
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
