internal import Catalog
internal import LibPQ

/// The parts of a filter that determine the SQL text of its conditions: its keys and kinds of values, never the values.
struct FilterShape: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Whether any text is non-empty, and whether one is empty.
        case texts(some: Bool, none: Bool)
        case flag(Bool)
        case other
    }

    let kinds: [FilterKey: Kind]

    static let none = FilterShape(.none)

    init(_ filter: Filter) {
        kinds = filter.values.mapValues { value in
            switch value {
            case .texts(let texts): .texts(some: texts.contains { !$0.isEmpty }, none: texts.contains(""))
            case .flag(let flag): .flag(flag)
            case .amount, .amountPerQuantity, .moment, .dimensions: .other
            }
        }
    }

    private init(kinds: [FilterKey: Kind]) { self.kinds = kinds }

    var isEmpty: Bool { kinds.isEmpty }
    var keys: [FilterKey] { FilterKey.allCases.filter { kinds[$0] != nil } }

    func without(_ keys: some Sequence<FilterKey>) -> FilterShape {
        var rest = kinds
        for key in keys { rest[key] = nil }
        return FilterShape(kinds: rest)
    }

    func only(_ keys: Set<FilterKey>) -> FilterShape { FilterShape(kinds: kinds.filter { keys.contains($0.key) }) }

    /// Returns whether a key has non-empty texts, any of which may match.
    func isOneOfSeveral(_ key: FilterKey) -> Bool {
        if case .texts(some: true, _)? = kinds[key] { true } else { false }
    }

    /// The part of a filter value in a parameter.
    enum Part: Hashable, Sendable { case value, quantity, dimension }

    /// Returns the conditions on a row `p` of `placement`.
    ///
    /// - Parameters:
    ///   - column: the column of the ordering index. Comparisons with it narrow the index scan; all others are hidden
    ///     from the planner, which would otherwise prefer to sort the filtered rows.
    ///   - slot: returns the parameter slot of a part of the filter.
    func conditions<Slot>(along column: SQL? = nil, _ slot: (FilterKey, Part) -> Slot) -> [SQLTemplate<Slot>] {
        keys.flatMap { key in
            let isAlong = key.column == column
            let conditions = Self.conditions(of: key, kinds[key]!) { slot(key, $0) }
            return isAlong ? conditions : conditions.map { "(\($0)) IS TRUE" }
        }
    }

    /// Returns the conditions on a row `p` of `placement`, with which the planner may choose an index.
    func visibleConditions<Slot>(_ slot: (FilterKey, Part) -> Slot) -> [SQLTemplate<Slot>] {
        keys.flatMap { key in Self.conditions(of: key, kinds[key]!) { slot(key, $0) } }
    }

    private static func conditions<Slot>(
        of key: FilterKey,
        _ kind: Kind,
        _ slot: (Part) -> Slot
    ) -> [SQLTemplate<Slot>] {
        let column: SQL = "p.\(key.column)"
        let value = slot(.value)
        switch (key.comparison, kind) {
        case (.isAny, .texts(let some, let none)):
            return disjunction(some ? "\(column) = ANY (\(value))" : nil, none ? "\(column) IS NULL" : nil)
        case (.hasAny, .texts(let some, let none)):
            return disjunction(some ? "\(column) && \(value)" : nil, none ? "p.tag_count = 0" : nil)
        case (.equals, .flag(let flag)): return [flag ? "\(column)" : "NOT \(column)"]
        case (.isAny, _): return ["\(column) = ANY (\(value))"]
        case (.atLeast, _): return ["\(column) >= \(value)"]
        case (.atMost, _): return ["\(column) <= \(value)"]
        case (.atMostPerQuantity, _):
            // The column is rounded and only serves the index; the multiplied comparison is exact.
            let quantity = slot(.quantity)
            return [
                "p.unit_dimension = \(slot(.dimension))",
                "\(column) <= \(value)::numeric(70, 33) / \(quantity) + 1e-33",
                "p.price_minor * \(quantity) <= \(value) * p.base_quantity",
            ]
        case (.hasAny, _), (.equals, _): preconditionFailure("\(key.name) has a value of another form")
        }
    }

    private static func disjunction<Slot>(_ a: SQLTemplate<Slot>?, _ b: SQLTemplate<Slot>?) -> [SQLTemplate<Slot>] {
        let parts = [a, b].compactMap { $0 }
        return parts.count == 2 ? ["(\(parts[0]) OR \(parts[1]))"] : parts
    }
}

/// The meaning of a parameter of a statement that reads what a filter keeps of a shelf.
enum FilterSlot: Hashable, Sendable {
    case store, shelf
    case filter(FilterKey, FilterShape.Part)

    func parameter(_ plan: PagePlan, _ shelf: ShelfLocation) -> PostgresValue {
        switch self {
        case .store: .int4(shelf.storeID)
        case .shelf: .int4(shelf.shelfID)
        case .filter(let key, let part): plan.view.filter.parameter(key, part, in: plan.currency)
        }
    }
}

extension Filter {
    /// Returns the parameter for a part of a key's value.
    func parameter(_ key: FilterKey, _ part: FilterShape.Part, in currency: Currency) -> PostgresValue {
        switch self[key]! {
        case .texts(let texts): .textArray(texts.filter { !$0.isEmpty })
        case .flag(let flag): .bool(flag)
        case .amount(let amount): .int8(Self.minor(amount, currency, isLower: key.comparison == .atLeast))
        case .moment(let moment): .timestamptz(moment.microseconds)
        case .dimensions(let dimensions): .int8Array(dimensions.map { Int64($0.ordinal) })
        case .amountPerQuantity(let limit):
            switch part {
            case .value: .numeric(limit.amount.multiplied(by: ExactDecimal(currency.unit))!.description)
            case .quantity: .numeric(limit.baseQuantity.description)
            case .dimension: .int2(Int16(limit.unit.dimension.ordinal))
            }
        }
    }

    /// Returns the smallest or largest whole number of minor units within a limit.
    private static func minor(_ amount: ExactDecimal, _ currency: Currency, isLower: Bool) -> Int64 {
        let scale = max(amount.scale, currency.exponent)
        var divisor: Int128 = 1
        for _ in currency.exponent..<scale { divisor *= 10 }
        let (whole, rest) = amount.significand(atScale: scale)!.quotientAndRemainder(dividingBy: divisor)
        return Int64(isLower && rest > 0 ? whole + 1 : whole)
    }
}
