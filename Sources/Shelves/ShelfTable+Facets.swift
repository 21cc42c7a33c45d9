package import Catalog

extension ShelfTable {
    /// Counts facets; each one's counts ignore its own filter.
    ///
    /// - Parameters:
    ///   - matches: the products that a search finds, which alone are counted; nil for all.
    ///   - countsGroups: whether to count the groups that have a matching product with a value, in place of products.
    /// - Precondition: the table has the columns of the attributes, and its groups if they are counted.
    /// - Complexity: O(*n* + *v* log *v*) for *n* products with *v* distinct values.
    package func facets(
        _ counted: Set<Facet>,
        _ filter: Filter,
        in currency: Currency,
        of matches: SearchMatches? = nil,
        countsGroups: Bool = false
    ) -> Facets {
        let ordered = counted.ordered
        // A row counts for a facet if no other facet's filter excludes it.
        var excluded = [UInt16](repeating: matches == nil ? 0 : Self.otherFilters, count: count)
        for row in matches?.rows ?? [] { excluded[Int(row)] = 0 }
        func exclude(_ part: Filter, _ bit: UInt16) {
            guard !part.isEmpty else { return }
            for (row, matches) in rows(matching: part, in: currency).enumerated() where !matches {
                excluded[row] |= bit
            }
        }
        var others = filter
        for (number, facet) in ordered.enumerated() {
            exclude(filter.only(facet.keys), 1 << number)
            others = others.without(facet.keys)
        }
        exclude(others, Self.otherFilters)

        if countsGroups {
            return groupFacets(ordered) { row, facet in
                excluded[row] & (facet.map { ~(1 << UInt16($0)) } ?? .max) == 0
            }
        }
        var facets = Facets(counted: counted)
        facets.total = excluded.count { $0 == 0 }
        for (number, facet) in ordered.enumerated() {
            let rows = (0..<count).lazy.filter { excluded[$0] & ~(1 << number) == 0 }
            switch facet {
            case .brand:
                let counts = Self.counts(rows.lazy.map { self.brands[$0] }, brandTexts.count)
                facets.brands = Self.ordered(counts.numbers, counts.none, brandTexts)
            case .tag:
                let sets = Self.counts(rows.lazy.map { self.tagSets[$0] }, tagSetValues.count)
                let (tags, none) = Self.elementCounts(tagSetValues, sets.numbers, tagTexts)
                facets.tags = Self.ordered(tags, none, tagTexts)
            case .inStock:
                for row in rows { if inStock[row] { facets.inStock += 1 } else { facets.soldOut += 1 } }
            case .price:
                let found = Self.counts(rows.lazy.map { self.prices[$0] }, missing: Self.noPrice)
                (facets.prices, facets.unpriced) = (found.counts.map { PriceCount($0.number, $0.count) }, found.missing)
            case .attribute(let reference):
                guard let attribute = reference.resolved else { continue }
                facets.attributes.append(self.facet(attribute, rows))
            }
        }
        return facets
    }

    /// The bit of filters without a facet: a request has at most 8 facets.
    private static let otherFilters: UInt16 = 0x8000

    /// Counts the values of an attribute.
    private func facet(_ attribute: ResolvedAttribute, _ rows: some Sequence<Int>) -> AttributeFacet {
        if case .ratio = attribute.form { return ratioFacet(attribute, rows) }
        switch values(of: attribute) {
        case .numbers(let numbers): return Self.numberFacet(attribute, rows.lazy.map { numbers[$0] })
        case .texts(let numbers, let texts):
            let (counts, unknown) = Self.counts(rows.lazy.map { numbers[$0] }, texts.count)
            return AttributeFacet(attribute, .values(Self.ordered(counts, 0, texts)), unknown: unknown)
        case .sets(let numbers, let lists, let texts):
            let (sets, unknown) = Self.counts(rows.lazy.map { numbers[$0] }, lists.count)
            let (counts, empty) = Self.elementCounts(lists, sets, texts)
            return AttributeFacet(attribute, .values(Self.ordered(counts, empty, texts)), unknown: unknown)
        }
    }

    static func numberFacet(_ attribute: ResolvedAttribute, _ numbers: some Sequence<Int64>) -> AttributeFacet {
        let (counts, unknown) = counts(numbers, missing: AttributeColumn.missing)
        func value(_ text: String, _ number: Int) -> Facets.Count {
            Facets.Count(text, counts.first { $0.number == Int64(number) }?.count ?? 0)
        }
        switch attribute.form {
        case .enumeration(let options):
            let values = options.enumerated().map { value($1.key, $0) }
            return AttributeFacet(attribute, .values(values), unknown: unknown)
        case .boolean:
            return AttributeFacet(attribute, .values([value("true", 0), value("false", 1)]), unknown: unknown)
        default:
            let range = counts.map { AttributeRange.Count(Int128($0.number), $0.count) }
            return AttributeFacet(attribute, .range(AttributeRange(range, of: attribute)), unknown: unknown)
        }
    }

    private func ratioFacet(_ attribute: ResolvedAttribute, _ rows: some Sequence<Int>) -> AttributeFacet {
        let (fractions, convert) = (fractions(attribute), attribute.unitConversion)
        var (known, unknown) = ([(units: Int128, isRounded: Bool)](), 0)
        for row in rows {
            guard let fraction = fractions(row) else {
                unknown += 1
                continue
            }
            known.append(convert(fraction))
        }
        return Self.ratioFacet(attribute, known, unknown: unknown)
    }

    static func ratioFacet(
        _ attribute: ResolvedAttribute,
        _ values: [(units: Int128, isRounded: Bool)],
        unknown: Int
    ) -> AttributeFacet {
        var known = values
        known.sort { ($0.units, $0.isRounded ? 1 : 0) < ($1.units, $1.isRounded ? 1 : 0) }
        var (counts, start) = ([AttributeRange.Count](), 0)
        while start < known.count {
            let end = known[start...].firstIndex { $0 != known[start] } ?? known.count
            counts.append(AttributeRange.Count(known[start].units, isRounded: known[start].isRounded, end - start))
            start = end
        }
        return AttributeFacet(attribute, .range(AttributeRange(counts, of: attribute)), unknown: unknown)
    }

    /// Counts the elements of distinct lists, and empty lists.
    private static func elementCounts(
        _ lists: NumberLists,
        _ counts: [Int],
        _ texts: CollatedTexts
    ) -> (numbers: [Int], empty: Int) {
        var (numbers, empty) = ([Int](repeating: 0, count: texts.count), 0)
        for (list, count) in zip(lists, counts) {
            if list.isEmpty { empty += count }
            for number in list { numbers[Int(number)] += count }
        }
        return (numbers, empty)
    }

    /// Counts each number, and missing ones.
    static func counts(_ values: some Sequence<UInt32>, _ valueCount: Int) -> (numbers: [Int], none: Int) {
        var (numbers, none) = ([Int](repeating: 0, count: valueCount), 0)
        for value in values { if value == Self.none { none += 1 } else { numbers[Int(value)] += 1 } }
        return (numbers, none)
    }

    /// Counts each number in ascending order, and missing ones.
    static func counts(
        _ numbers: some Sequence<Int64>,
        missing none: Int64
    ) -> (counts: [(number: Int64, count: Int)], missing: Int) {
        var (lowest, highest, total, missing) = (Int64.max, Int64.min, 0, 0)
        for number in numbers {
            if number == none {
                missing += 1
            } else {
                (lowest, highest, total) = (min(lowest, number), max(highest, number), total + 1)
            }
        }
        guard total > 0 else { return ([], missing) }
        // Most shelves have prices of a small range, which need neither hashes nor a sort.
        if highest - lowest < Int64(max(4096, 16 * total)) {
            var counts = [Int32](repeating: 0, count: Int(highest - lowest) + 1)
            for number in numbers where number != none { counts[Int(number - lowest)] += 1 }
            let found = counts.enumerated().lazy.filter { $0.element > 0 }
            return (found.map { (lowest + Int64($0.offset), Int($0.element)) }, missing)
        }
        var counts: [Int64: Int] = [:]
        for number in numbers where number != none { counts[number, default: 0] += 1 }
        return (counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, missing)
    }

    /// Returns the counts above 0 by descending count, then by text; no text comes first.
    static func ordered(_ counts: [Int], _ none: Int, _ texts: CollatedTexts) -> [Facets.Count] {
        let found =
            (none > 0 ? [(number: -1, count: none)] : [])
            + counts.enumerated().filter { $0.element > 0 }.map { (number: $0.offset, count: $0.element) }
        return found.sorted { ($1.count, $0.number) < ($0.count, $1.number) }
            .map { Facets.Count($0.number < 0 ? "" : texts.texts.text($0.number), $0.count) }
    }
}
