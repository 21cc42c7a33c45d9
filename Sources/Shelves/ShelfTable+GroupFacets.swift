internal import Catalog

// Facets with collapsed groups: a value counts the groups that have a matching product with it.

extension ShelfTable {
    /// Counts facets of groups.
    ///
    /// - Parameters:
    ///   - counted: the facets, of which some may be attributes whose columns the table has.
    ///   - isCounted: whether a row counts for the facet with a number; for nil, whether it matches the whole filter.
    /// - Precondition: the table has its groups.
    /// - Complexity: as `facets`.
    func groupFacets(_ counted: [Facet], isCounted: (_ row: Int, _ facet: Int?) -> Bool) -> Facets {
        let groups = GroupedRows(self)
        var facets = Facets(counted: Set(counted))
        facets.total = groups.count { isCounted($0, nil) }
        for (number, facet) in counted.enumerated() {
            func isIn(_ row: Int) -> Bool { isCounted(row, number) }
            switch facet {
            case .brand:
                let counts = Self.counts(groups.distinct(isIn) { brands[$0] }, brandTexts.count)
                facets.brands = Self.ordered(counts.numbers, counts.none, brandTexts)
            case .tag:
                let counts = groups.elementCounts(isIn, tagSets, tagSetValues, tagTexts.count)
                facets.tags = Self.ordered(counts.numbers, counts.empty, tagTexts)
            case .inStock:
                facets.inStock = groups.count { isIn($0) && inStock[$0] }
                facets.soldOut = groups.count { isIn($0) && !inStock[$0] }
            case .price:
                let found = Self.counts(groups.distinct(isIn) { prices[$0] }, missing: Self.noPrice)
                facets.prices = found.counts.map { PriceCount($0.number, $0.count) }
                facets.unpriced = found.missing
                facets.recountBuckets { bucket in
                    groups.count { isIn($0) && prices[$0] != Self.noPrice && bucket.contains(prices[$0]) }
                }
            case .attribute(let reference):
                guard let attribute = reference.resolved else { continue }
                facets.attributes.append(groupFacet(attribute, groups, isIn))
            }
        }
        return facets
    }

    /// Counts the values of an attribute.
    private func groupFacet(
        _ attribute: ResolvedAttribute,
        _ groups: GroupedRows,
        _ isIn: (Int) -> Bool
    ) -> AttributeFacet {
        if case .ratio = attribute.form {
            let (fractions, convert) = (fractions(attribute), attribute.unitConversion)
            let units = (0..<count).map { row in isIn(row) ? fractions(row).map { convert($0).units } : nil }
            let known = groups.distinct({ units[$0] != nil }) { RatioUnits(convert(fractions($0)!)) }
            let facet = Self.ratioFacet(
                attribute,
                known.map { ($0.units, $0.isRounded) },
                unknown: groups.count { isIn($0) && units[$0] == nil }
            )
            return facet.recounting { range in groups.count { row in units[row].map(range.contains) ?? false } }
        }
        switch values(of: attribute) {
        case .numbers(let numbers):
            let facet = Self.numberFacet(attribute, groups.distinct(isIn) { numbers[$0] })
            return facet.recounting { range in
                groups.count {
                    isIn($0) && numbers[$0] != AttributeColumn.missing && range.contains(Int128(numbers[$0]))
                }
            }
        case .texts(let numbers, let texts):
            let (counts, unknown) = Self.counts(groups.distinct(isIn) { numbers[$0] }, texts.count)
            return AttributeFacet(attribute, .values(Self.ordered(counts, 0, texts)), unknown: unknown)
        case .sets(let numbers, let lists, let texts):
            let known = groups.elementCounts({ isIn($0) && numbers[$0] != Self.none }, numbers, lists, texts.count)
            let unknown = groups.count { isIn($0) && numbers[$0] == Self.none }
            return AttributeFacet(
                attribute,
                .values(Self.ordered(known.numbers, known.empty, texts)),
                unknown: unknown
            )
        }
    }
}

private struct RatioUnits: Hashable {
    let units: Int128
    let isRounded: Bool

    init(_ value: (units: Int128, isRounded: Bool)) { (units, isRounded) = value }
}

/// The rows of a table, group by group. A product without a group is a group of its own.
private struct GroupedRows {
    private let rows: [UInt32]
    /// The end of each group among the rows.
    private let ends: [UInt32]

    /// - Complexity: O(*n*).
    init(_ table: ShelfTable) {
        guard let groups = table.groups else { preconditionFailure("the groups were not read") }
        var places: [Int] = []
        var start = 0
        for count in groups.counts {
            places.append(start)
            start += Int(count)
        }
        var rows = [UInt32](repeating: 0, count: table.count)
        var ends: [UInt32] = []
        for (row, number) in groups.numbers.enumerated() where number != ShelfTable.none {
            rows[places[Int(number)]] = UInt32(row)
            places[Int(number)] += 1
        }
        for (number, end) in places.enumerated() where groups.counts[number] > 0 { ends.append(UInt32(end)) }
        for (row, number) in groups.numbers.enumerated() where number == ShelfTable.none {
            rows[start] = UInt32(row)
            start += 1
            ends.append(UInt32(start))
        }
        (self.rows, self.ends) = (rows, ends)
    }

    private func forEach(_ body: (ArraySlice<UInt32>) -> Void) {
        var start = 0
        for end in ends.lazy.map(Int.init) {
            body(rows[start..<end])
            start = end
        }
    }

    /// Returns the number of groups with a row that satisfies a condition.
    func count(where condition: (Int) -> Bool) -> Int {
        var count = 0
        forEach { if $0.contains(where: { condition(Int($0)) }) { count += 1 } }
        return count
    }

    /// Returns the distinct values of each group's rows that satisfy a condition, of all groups after one another.
    func distinct<Value: Hashable>(_ condition: (Int) -> Bool, _ value: (Int) -> Value) -> [Value] {
        var values: [Value] = []
        forEach { group in
            guard group.count > 1 else {
                for row in group.lazy.map(Int.init) where condition(row) { values.append(value(row)) }
                return
            }
            var seen: Set<Value> = []
            for row in group.lazy.map(Int.init) where condition(row) {
                let value = value(row)
                if seen.insert(value).inserted { values.append(value) }
            }
        }
        return values
    }

    /// Counts the groups with each element in the lists of their rows that satisfy a condition, and those with an empty list.
    func elementCounts(
        _ condition: (Int) -> Bool,
        _ numbers: [UInt32],
        _ lists: NumberLists,
        _ elementCount: Int
    ) -> (numbers: [Int], empty: Int) {
        var (counts, empty) = ([Int](repeating: 0, count: elementCount), 0)
        /// The number of the last group that each element was counted for, from 1 on.
        var last = [Int](repeating: 0, count: elementCount)
        var group = 0
        forEach { rows in
            group += 1
            var hasEmpty = false
            for row in rows.lazy.map(Int.init) where condition(row) {
                let list = lists[Int(numbers[row])]
                hasEmpty = hasEmpty || list.isEmpty
                for element in list.lazy.map(Int.init) where last[element] != group {
                    last[element] = group
                    counts[element] += 1
                }
            }
            if hasEmpty { empty += 1 }
        }
        return (counts, empty)
    }
}
