internal import Catalog

extension ShelfTable {
    /// Returns for each row whether it matches a filter.
    ///
    /// - Parameter currency: the currency of amounts.
    /// - Complexity: O(*n*) for each key of the filter.
    func rows(matching filter: Filter, in currency: Currency) -> [Bool] {
        var matches = [Bool](repeating: true, count: count)
        for key in filter.keys {
            guard let value = filter[key] else { continue }
            match(key, value, currency, &matches)
        }
        return matches
    }

    /// Clears the rows that do not match one key of a filter.
    private func match(_ key: FilterKey, _ value: FilterValue, _ currency: Currency, _ matches: inout [Bool]) {
        switch (key, value) {
        case (.brand, .texts(let wanted)):
            let accepted = Self.accepted(wanted, brandTexts)
            let acceptsNone = wanted.contains("")
            keep(&matches) { row in brands[row] == Self.none ? acceptsNone : accepted[Int(brands[row])] }
        case (.tag, .texts(let wanted)):
            let accepted = Self.accepted(wanted, tagTexts)
            let acceptsNone = wanted.contains("")
            let sets = tagSetValues.map { set in set.isEmpty ? acceptsNone : set.contains { accepted[Int($0)] } }
            keep(&matches) { row in sets[Int(tagSets[row])] }
        case (.inStock, .flag(let wanted)): keep(&matches) { row in inStock[row] == wanted }
        case (.priceMin, .amount(let limit)):
            let least = Self.minorUnits(limit, currency, roundedUp: true)
            keep(&matches) { row in prices[row] != Self.noPrice && prices[row] >= least }
        case (.priceMax, .amount(let limit)):
            let most = Self.minorUnits(limit, currency, roundedUp: false)
            keep(&matches) { row in prices[row] != Self.noPrice && prices[row] <= most }
        case (.unitPriceMax, .amountPerQuantity(let limit)):
            let quantities = sizeValues.map(\.decimal)
            keep(&matches) { row in
                guard hasUnitPrice(row) else { return false }
                let size = Int(sizes[row])
                return limit.covers(prices[row], per: quantities[size], of: sizeValues[size].dimension, in: currency)
            }
        case (.createdAfter, .moment(let limit)): keep(&matches) { row in created[row] >= limit.microseconds }
        case (.createdBefore, .moment(let limit)): keep(&matches) { row in created[row] <= limit.microseconds }
        case (.modifiedAfter, .moment(let limit)): keep(&matches) { row in modified[row] >= limit.microseconds }
        case (.modifiedBefore, .moment(let limit)): keep(&matches) { row in modified[row] <= limit.microseconds }
        case (.dimension, .dimensions(let wanted)):
            let accepted = sizeValues.map { wanted.contains($0.dimension) }
            keep(&matches) { row in sizes[row] != Self.none && accepted[Int(sizes[row])] }
        // A value of another form than its key's matches nothing.
        case (.brand, _), (.tag, _), (.inStock, _), (.priceMin, _), (.priceMax, _), (.unitPriceMax, _),
            (.createdAfter, _),
            (.createdBefore, _), (.modifiedAfter, _), (.modifiedBefore, _), (.dimension, _):
            keep(&matches) { _ in false }
        }
    }

    private func keep(_ matches: inout [Bool], _ condition: (Int) -> Bool) {
        for row in 0..<count where matches[row] { matches[row] = condition(row) }
    }

    /// Returns for each text whether it is wanted. Texts are compared byte by byte.
    private static func accepted(_ wanted: [String], _ texts: CollatedTexts) -> [Bool] {
        let bytes = Set(wanted.map { Array($0.utf8) })
        return (0..<texts.count).map { bytes.contains(Array(texts.texts[$0])) }
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
