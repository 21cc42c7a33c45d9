package import Catalog

// The sort keys of a shelf in memory: how rows are sorted by a key, the value for cursors, and how a row compares with such a value.

/// A criterion of an order.
enum OrderCriterion: Sendable {
    /// How well products match a search, by a key that compares it. The best matches come first in each sort.
    case matches(SearchMatches, SortKey)
    case key(Sort.Term)
}

extension ShelfTable {
    /// Sorts rows stably by one criterion.
    ///
    /// - Precondition: all rows are matches, if the criterion is their relevance.
    func order(_ rows: inout [UInt32], by criterion: OrderCriterion, _ dimension: Dimension) {
        switch criterion {
        case .key(let term): order(&rows, by: term, dimension)
        case .matches(let matches, let key):
            var keys = [UInt64](repeating: 0, count: count)
            for (row, relevance) in zip(matches.rows, matches.relevances) {
                keys[Int(row)] = relevance.value(of: key).map { UInt64($0) } ?? .max
            }
            RowOrder.sort(&rows, by: keys)
        }
    }

    /// Sorts rows stably by one key.
    private func order(_ rows: inout [UInt32], by term: Sort.Term, _ dimension: Dimension) {
        let isDescending = term.direction == .descending
        /// Returns the keys of values; missing values come last in both directions.
        func keys(_ value: (Int) -> UInt64?) -> [UInt64] {
            (0..<count).map { row in value(row).map { isDescending ? Self.lastValue - $0 : $0 } ?? .max }
        }
        switch term.key {
        case .price: RowOrder.sort(&rows, by: keys { row in price(row).map { UInt64($0) } })
        case .unitPrice:
            let keys = keys { row in unitPrice(row)?.approximateValue.bitPattern }
            RowOrder.sort(&rows, by: keys, within: UnitPrice.approximationError) { a, b in
                isDescending ? hasLowerUnitPrice(b, than: a) : hasLowerUnitPrice(a, than: b)
            }
            let groups = dimension.groupOrder
            let ranks = sizeValues.dimensions.map { UInt64(groups.firstIndex(of: $0)!) }
            RowOrder.sort(
                &rows,
                by: (0..<count).map { hasUnitPrice($0) ? ranks[Int(sizes[$0])] : UInt64(groups.count) }
            )
        case .popularity: RowOrder.sort(&rows, by: bits(popularities.lazy.map(\.orderedBits), isDescending))
        case .brand: RowOrder.sort(&rows, by: keys { row in brands[row] == Self.none ? nil : UInt64(brands[row]) })
        case .name:
            let ranks = nameRanks
            RowOrder.sort(&rows, by: keys { row in ranks[row] })
        case .created: RowOrder.sort(&rows, by: bits(created.lazy.map(\.orderedBits), isDescending))
        case .modified: RowOrder.sort(&rows, by: bits(modified.lazy.map(\.orderedBits), isDescending))
        case .tags: RowOrder.sort(&rows, by: keys { row in UInt64(tagSetValues[Int(tagSets[row])].count) })
        case .position:
            precondition(positions.count == count, "a union of shelves has no manual order")
            RowOrder.sort(&rows, by: positions)
        case .relevance, .closeness: preconditionFailure("the relevance is that of matches")
        case .attribute(let reference):
            guard let attribute = reference.resolved else { return }
            if case .ratio = attribute.form {
                let fractions = fractions(attribute)
                RowOrder.sort(
                    &rows,
                    by: keys { row in fractions(row)?.approximateValue.orderedBits },
                    within: AttributeFraction.approximationError
                ) { a, b in
                    guard let x = fractions(a), let y = fractions(b) else { return false }
                    return isDescending ? y < x : x < y
                }
                return
            }
            switch values(of: attribute) {
            case .numbers(let numbers):
                RowOrder.sort(
                    &rows,
                    by: keys { row in numbers[row] == AttributeColumn.missing ? nil : numbers[row].orderedBits }
                )
            case .texts(let numbers, _):
                RowOrder.sort(&rows, by: keys { row in numbers[row] == Self.none ? nil : UInt64(numbers[row]) })
            case .sets: preconditionFailure("a set has no order")
            }
        }
    }

    /// Returns the values by which a row of a view is sorted, for a cursor.
    package func values(_ row: Int, in view: TableView) -> [SortValue] {
        with(view.columns).values(row, of: view.criteria)
    }

    /// Returns the values by which a row is sorted.
    func values(_ row: Int, of criteria: [OrderCriterion]) -> [SortValue] {
        criteria.map { criterion in
            switch criterion {
            case .key(let term): value(of: term.key, row)
            case .matches(let matches, let key):
                matches.relevance(of: row)?.value(of: key).map { .integer(Int64($0)) } ?? .missing
            }
        }
    }

    /// Returns the value by which a row is sorted, for a cursor.
    package func value(of key: SortKey, _ row: Int) -> SortValue {
        switch key {
        case .price: price(row).map(SortValue.integer) ?? .missing
        case .unitPrice: unitPrice(row).map { .unitPrice($0.dimension, digits: $0.key) } ?? .missing
        case .popularity: .real(popularities[row])
        case .brand: brands[row] == Self.none ? .missing : .text(brandTexts.texts.text(Int(brands[row])))
        case .name: .text(names.text(row))
        case .created: .integer(created[row])
        case .modified: .integer(modified[row])
        case .tags: .integer(Int64(tagSetValues[Int(tagSets[row])].count))
        case .position: .bytes(Array(positions[row]))
        case .relevance, .closeness: .missing
        case .attribute(let reference): reference.resolved.map { value(of: $0, row) } ?? .missing
        }
    }

    /// Returns the value of an attribute by which a row is sorted.
    private func value(of attribute: ResolvedAttribute, _ row: Int) -> SortValue {
        if case .ratio = attribute.form { return fractions(attribute)(row).map { .fraction($0) } ?? .missing }
        switch values(of: attribute) {
        case .numbers(let numbers):
            return numbers[row] == AttributeColumn.missing ? .missing : .integer(numbers[row])
        case .texts(let numbers, let texts):
            return numbers[row] == Self.none ? .missing : .text(texts.texts.text(Int(numbers[row])))
        case .sets: return .missing
        }
    }

    /// Returns the text by which a row is sorted, with its sort key; nil for other values.
    func text(of key: SortKey, _ row: Int) -> CollatedText? {
        switch key {
        case .brand: return brands[row] == Self.none ? nil : brandTexts[Int(brands[row])]
        case .name: return CollatedText(names.text(row), key: Array(nameKeys[row]))
        case .attribute(let reference):
            guard let attribute = reference.resolved, case .text = attribute.form,
                case .texts(let numbers, let texts) = values(of: attribute), numbers[row] != Self.none
            else { return nil }
            return texts[Int(numbers[row])]
        case .price, .unitPrice, .popularity, .created, .modified, .tags, .position, .relevance, .closeness: return nil
        }
    }

    /// The order of a row and a value.
    enum KeyOrder {
        case same
        /// An order that the direction does not reverse: missing values and dimensions.
        case fixed(Int)
        case directional(Int)

        init(_ order: Int) { self = order == 0 ? .same : .directional(order) }

        init<Value: Comparable>(_ a: Value, _ b: Value) { self.init(a < b ? -1 : a > b ? 1 : 0) }
    }

    /// Compares a row with a value of a criterion: negative if the row comes first.
    func compare(
        _ row: Int,
        _ criterion: OrderCriterion,
        _ other: (value: SortValue, text: CollatedText?),
        _ dimension: Dimension
    ) -> Int {
        switch criterion {
        case .key(let term):
            switch compare(row, term.key, other, dimension) {
            case .same: 0
            case .fixed(let order): order
            case .directional(let order): term.direction == .ascending ? order : -order
            }
        case .matches(let matches, let key):
            switch (matches.relevance(of: row)?.value(of: key).map { Int64($0) }, other.value) {
            case (let own?, .integer(let value)): own == value ? 0 : own < value ? -1 : 1
            default: preconditionFailure("each row of a search has a relevance")
            }
        }
    }

    /// Compares a row with a value of a key.
    private func compare(
        _ row: Int,
        _ key: SortKey,
        _ other: (value: SortValue, text: CollatedText?),
        _ dimension: Dimension
    ) -> KeyOrder {
        let isMissing =
            switch key {
            case .price: prices[row] == Self.noPrice
            case .unitPrice: !hasUnitPrice(row)
            case .brand: brands[row] == Self.none
            case .popularity, .name, .created, .modified, .tags, .position, .relevance, .closeness: false
            case .attribute: value(of: key, row) == .missing
            }
        if isMissing || other.value == .missing {
            return isMissing ? (other.value == .missing ? .same : .fixed(1)) : .fixed(-1)
        }
        switch (key, other.value) {
        case (.price, .integer(let value)): return KeyOrder(prices[row], value)
        case (.created, .integer(let value)): return KeyOrder(created[row], value)
        case (.modified, .integer(let value)): return KeyOrder(modified[row], value)
        case (.tags, .integer(let value)): return KeyOrder(Int64(tagSetValues[Int(tagSets[row])].count), value)
        case (.popularity, .real(let value)): return KeyOrder(popularities[row], value)
        case (.position, .bytes(let value)): return KeyOrder(positions.compare(row, value))
        case (.unitPrice, .unitPrice(let group, let digits)):
            guard let own = unitPrice(row) else { return .same }
            if own.dimension != group {
                let groups = dimension.groupOrder
                return .fixed(groups.firstIndex(of: own.dimension)! < groups.firstIndex(of: group)! ? -1 : 1)
            }
            // Both have the same number of decimals.
            let text = own.key
            if text.utf8.count != digits.utf8.count { return KeyOrder(text.utf8.count, digits.utf8.count) }
            return text == digits ? .same : .directional(text.utf8.lexicographicallyPrecedes(digits.utf8) ? -1 : 1)
        case (.brand, .text), (.name, .text):
            guard let text = other.text else { return .same }
            if key == .name { return KeyOrder(compareName(row, text)) }
            return KeyOrder(brandTexts.compare(Int(brands[row]), text.key, Array(text.text.utf8)))
        case (.attribute, _):
            switch (value(of: key, row), other.value) {
            case (.integer(let own), .integer(let value)): return KeyOrder(own, value)
            case (.fraction(let own), .fraction(let value)): return KeyOrder(own, value)
            case (.text, .text):
                guard let own = self.text(of: key, row), let text = other.text else { return .same }
                return KeyOrder(own.compared(to: text))
            // The cursor of an attribute with another type is rejected before.
            default: return .same
            }
        case (.price, _), (.unitPrice, _), (.popularity, _), (.brand, _), (.name, _), (.created, _), (.modified, _),
            (.tags, _), (.position, _), (.relevance, _), (.closeness, _):
            preconditionFailure("a key's values have one type")
        }
    }

    /// Not below any number of a value that can be missing.
    static let lastValue = UInt64.max - 1

    private func bits(_ values: some Sequence<UInt64>, _ isDescending: Bool) -> [UInt64] {
        values.map { isDescending ? ~$0 : $0 }
    }

    /// The rank of each row's name; rows with equal names have equal ranks.
    private var nameRanks: [UInt64] {
        var ranks: [UInt64] = []
        ranks.reserveCapacity(count)
        var rank: UInt64 = 0
        for row in 0..<count {
            if row > 0, !haveSameName(row - 1, row) { rank += 1 }
            ranks.append(rank)
        }
        return ranks
    }

    /// Compares the exact unit prices of two rows; a row without one is not lower.
    private func hasLowerUnitPrice(_ a: Int, than b: Int) -> Bool {
        guard let x = unitPrice(a), let y = unitPrice(b) else { return false }
        return x.isLess(than: y)
    }
}

extension Int64 {
    /// A number that orders like this one.
    fileprivate var orderedBits: UInt64 { UInt64(bitPattern: self) ^ (1 << 63) }
}

extension Double {
    /// A number that orders like this one; both zeros are equal.
    var orderedBits: UInt64 {
        let bits = (self == 0 ? 0 : self).bitPattern
        return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
    }
}
