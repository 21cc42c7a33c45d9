internal import Catalog

extension ShelfTable {
    /// Returns for each row whether it matches a filter.
    ///
    /// - Parameters:
    ///   - currency: the currency of amounts.
    ///   - some: the rows to examine; nil for all. Others do not match.
    /// - Complexity: O(*n*), and O(*m*) for each key of the filter, for *n* rows of which *m* are examined.
    func rows(matching filter: Filter, in currency: Currency, among some: [UInt32]? = nil) -> [Bool] {
        var matches = [Bool](repeating: some == nil, count: count)
        for row in some ?? [] { matches[Int(row)] = true }
        let rows = some.map { Rows.some($0) } ?? .all(count)
        for key in filter.keys {
            guard let value = filter[key] else { continue }
            match(key, value, currency, rows, &matches)
        }
        return matches
    }

    /// The rows that a filter examines.
    private enum Rows {
        case all(Int)
        case some([UInt32])
    }

    /// Clears the rows that do not match one key of a filter.
    private func match(
        _ key: FilterKey,
        _ value: FilterValue,
        _ currency: Currency,
        _ rows: Rows,
        _ matches: inout [Bool]
    ) {
        switch (key, value) {
        case (.brand, .texts(let wanted)):
            let accepted = Self.accepted(wanted, brandTexts)
            let acceptsNone = wanted.contains("")
            keep(rows, &matches) { row in brands[row] == Self.none ? acceptsNone : accepted[Int(brands[row])] }
        case (.tag, .texts(let wanted)):
            let accepted = Self.accepted(wanted, tagTexts)
            let acceptsNone = wanted.contains("")
            let sets = tagSetValues.map { set in set.isEmpty ? acceptsNone : set.contains { accepted[Int($0)] } }
            keep(rows, &matches) { row in sets[Int(tagSets[row])] }
        case (.inStock, .flag(let wanted)): keep(rows, &matches) { row in inStock[row] == wanted }
        case (.priceMin, .amount(let limit)):
            let least = Self.minorUnits(limit, currency, roundedUp: true)
            keep(rows, &matches) { row in prices[row] != Self.noPrice && prices[row] >= least }
        case (.priceMax, .amount(let limit)):
            let most = Self.minorUnits(limit, currency, roundedUp: false)
            keep(rows, &matches) { row in prices[row] != Self.noPrice && prices[row] <= most }
        case (.unitPriceMax, .amountPerQuantity(let limit)):
            let quantities = sizeValues.map(\.decimal)
            keep(rows, &matches) { row in
                guard hasUnitPrice(row) else { return false }
                let size = Int(sizes[row])
                return limit.covers(prices[row], per: quantities[size], of: sizeValues.dimensions[size], in: currency)
            }
        case (.createdAfter, .moment(let limit)): keep(rows, &matches) { row in created[row] >= limit.microseconds }
        case (.createdBefore, .moment(let limit)): keep(rows, &matches) { row in created[row] <= limit.microseconds }
        case (.modifiedAfter, .moment(let limit)): keep(rows, &matches) { row in modified[row] >= limit.microseconds }
        case (.modifiedBefore, .moment(let limit)): keep(rows, &matches) { row in modified[row] <= limit.microseconds }
        case (.dimension, .dimensions(let wanted)):
            let accepted = sizeValues.dimensions.map { wanted.contains($0) }
            keep(rows, &matches) { row in sizes[row] != Self.none && accepted[Int(sizes[row])] }
        case (.tagsAll, .texts(let wanted)):
            let sets = tagSetValues.map { hasAll(wanted, $0, tagTexts) }
            keep(rows, &matches) { row in sets[Int(tagSets[row])] }
        case (.tagsNone, .texts(let wanted)):
            let excluded = Self.accepted(wanted, tagTexts)
            let sets = tagSetValues.map { set in !set.contains { excluded[Int($0)] } }
            keep(rows, &matches) { row in sets[Int(tagSets[row])] }
        case (.attribute(let reference, _), .attribute(let condition)):
            guard let attribute = reference.resolved else { return keep(rows, &matches) { _ in false } }
            let accepts = condition.test.condition(attribute, in: self)
            keep(rows, &matches, accepts)
        // A value of another form than its key's matches nothing.
        case (.brand, _), (.tag, _), (.tagsAll, _), (.tagsNone, _), (.attribute, _), (.inStock, _), (.priceMin, _),
            (.priceMax, _), (.unitPriceMax, _),
            (.createdAfter, _),
            (.createdBefore, _), (.modifiedAfter, _), (.modifiedBefore, _), (.dimension, _):
            keep(rows, &matches) { _ in false }
        }
    }

    private func keep(_ rows: Rows, _ matches: inout [Bool], _ condition: (Int) -> Bool) {
        switch rows {
        case .all(let count): for row in 0..<count where matches[row] { matches[row] = condition(row) }
        case .some(let rows):
            for row in rows.lazy.map(Int.init) where matches[row] { matches[row] = condition(row) }
        }
    }

    /// Returns for each text whether it is wanted. Texts are compared byte by byte.
    fileprivate static func accepted(_ wanted: [String], _ texts: CollatedTexts) -> [Bool] {
        let bytes = Set(wanted.map { Array($0.utf8) })
        return (0..<texts.count).map { bytes.contains(Array(texts.texts[$0])) }
    }

    /// Returns whether numbers of texts include all of some texts.
    fileprivate func hasAll(_ wanted: [String], _ numbers: ArraySlice<UInt32>, _ texts: CollatedTexts) -> Bool {
        let own = numbers.map { Array(texts.texts[Int($0)]) }
        return wanted.allSatisfy { own.contains(Array($0.utf8)) }
    }

    /// Converts an amount, which is not negative, to whole minor units.
    private static func minorUnits(_ amount: ExactDecimal, _ currency: Currency, roundedUp: Bool) -> Int64 {
        if amount.scale <= currency.exponent {
            return amount.significand(atScale: currency.exponent).map { Int64(clamping: $0) } ?? .max
        }
        var divisor: Int128 = 1
        for _ in currency.exponent..<amount.scale { divisor *= 10 }
        let (quotient, remainder) = amount.significand.quotientAndRemainder(dividingBy: divisor)
        return Int64(clamping: roundedUp && remainder > 0 ? quotient + 1 : quotient)
    }
}

extension AttributeCondition.Test {
    /// Returns the condition for the rows of a table.
    fileprivate func condition(_ attribute: ResolvedAttribute, in table: ShelfTable) -> (Int) -> Bool {
        if case .ratio = attribute.form { return ratioCondition(table.fractions(attribute)) }
        switch table.values(of: attribute) {
        case .numbers(let numbers): return numberCondition(numbers)
        case .texts(let numbers, let texts):
            guard case .values(let wanted, let acceptsMissing) = self else { return { _ in false } }
            let named = wanted.compactMap { value in if case .text(let text) = value { text } else { nil } }
            let accepted = ShelfTable.accepted(named, texts)
            return { row in numbers[row] == ShelfTable.none ? acceptsMissing : accepted[Int(numbers[row])] }
        case .sets(let numbers, let lists, let texts):
            let accepted = acceptedSets(lists, texts, table)
            return { row in numbers[row] != ShelfTable.none && accepted[Int(numbers[row])] }
        }
    }

    private func ratioCondition(_ fractions: @escaping (Int) -> AttributeFraction?) -> (Int) -> Bool {
        switch self {
        case .atLeast(.ratio(let limit)): { row in fractions(row).map { $0 >= limit } ?? false }
        case .atMost(.ratio(let limit)): { row in fractions(row).map { $0 <= limit } ?? false }
        default: { _ in false }
        }
    }

    private func numberCondition(_ numbers: NarrowNumbers) -> (Int) -> Bool {
        func number(_ value: AttributeValue) -> Int64? {
            if case .integer(let number) = SortValue(value) { number } else { nil }
        }
        switch self {
        case .values(let wanted, let acceptsMissing):
            let accepted = Set(wanted.compactMap(number))
            return { row in
                numbers[row] == AttributeColumn.missing ? acceptsMissing : accepted.contains(numbers[row])
            }
        case .atLeast(let value):
            guard let limit = number(value) else { return { _ in false } }
            return { row in numbers[row] != AttributeColumn.missing && numbers[row] >= limit }
        case .atMost(let value):
            guard let limit = number(value) else { return { _ in false } }
            return { row in numbers[row] != AttributeColumn.missing && numbers[row] <= limit }
        case .anyOf, .allOf, .noneOf: return { _ in false }
        }
    }

    /// Returns for each distinct set whether it matches.
    private func acceptedSets(_ lists: NumberLists, _ texts: CollatedTexts, _ table: ShelfTable) -> [Bool] {
        switch self {
        case .anyOf(let wanted, let acceptsEmpty):
            let accepted = ShelfTable.accepted(wanted, texts)
            return lists.map { list in list.isEmpty ? acceptsEmpty : list.contains { accepted[Int($0)] } }
        case .allOf(let wanted): return lists.map { table.hasAll(wanted, $0, texts) }
        case .noneOf(let wanted):
            let excluded = ShelfTable.accepted(wanted, texts)
            return lists.map { list in !list.contains { excluded[Int($0)] } }
        case .values, .atLeast, .atMost: return lists.map { _ in false }
        }
    }
}
