/// The counts of a facet by an attribute: numbers of products, or of groups if these are collapsed.
package struct AttributeFacet: Sendable, Hashable {
    package let attribute: ResolvedAttribute
    package var counts: Counts
    /// The number of products or groups without a value.
    package var unknown = 0

    package enum Counts: Sendable, Hashable {
        /// The numbers of products or groups with a text, an option, an element or a boolean; the empty value counts those with an empty set.
        /// All options of an enum and both booleans are among them, in this order, also if their counts are 0.
        case values([Facets.Count])
        case range(AttributeRange)
    }

    package init(_ attribute: ResolvedAttribute, _ counts: Counts, unknown: Int) {
        (self.attribute, self.counts, self.unknown) = (attribute, counts, unknown)
    }

    package var name: String { Facet.attribute(.resolved(attribute)).name }

    /// Counts the groups in each part of a range: one with several values in a part counts once.
    ///
    /// - Parameter count: returns the number of groups with a value in a range of the smallest units.
    package func recounting(_ count: (ClosedRange<Int128>) -> Int) -> AttributeFacet {
        guard case .range(var range) = counts else { return self }
        range.recount(count)
        var facet = self
        facet.counts = .range(range)
        return facet
    }
}

/// The values of products in a range, with at most five adjacent parts with round limits.
package struct AttributeRange: Sendable, Hashable {
    /// A part of the range. Limits are texts for filters, and both belong to the part.
    package struct Bucket: Sendable, Hashable {
        /// The lower limit; nil for the first bucket.
        package var from: String?
        /// The upper limit; nil for the last bucket.
        package var to: String?
        package var count: Int

        package init(from: String? = nil, to: String? = nil, count: Int) {
            (self.from, self.to, self.count) = (from, to, count)
        }
    }

    /// The number of products or groups with a value.
    package struct Count: Sendable, Hashable {
        /// The value in its smallest unit: the last decimal of a number, a day, or 10^−6 of a ratio, rounded down.
        package let units: Int128
        /// Whether the value is above `units`, which only a ratio can be.
        package let isRounded: Bool
        package let count: Int

        package init(_ units: Int128, isRounded: Bool = false, _ count: Int) {
            (self.units, self.isRounded, self.count) = (units, isRounded, count)
        }
    }

    /// The least and the greatest value; nil without any, and above 22 digits. Those of a ratio are rounded to six decimals, so that a filter by them keeps all.
    package let min: String?
    package let max: String?
    package private(set) var buckets: [Bucket]
    /// The lower limits of all buckets but the first one, in the smallest unit.
    private let limits: [Int128]

    /// - Parameter counts: in ascending order, without duplicates.
    /// - Complexity: O(n).
    package init(_ counts: [Count], of attribute: ResolvedAttribute) {
        let form = attribute.form
        func text(_ units: Int128) -> String { form.text(ofUnits: units) }
        /// nil for a value that may be beyond the limit of filters.
        func end(_ units: Int128?) -> String? {
            units.flatMap { $0.magnitude < AttributeFraction.unitsLimit ? text($0) : nil }
        }
        min = end(counts.first?.units)
        max = end(counts.last.map { $0.isRounded ? $0.units + 1 : $0.units })
        let limits = Self.limits(counts, form)
        var buckets = [Bucket(count: 0)]
        var used: [Int128] = []
        var rest = limits[...]
        for count in counts {
            while let limit = rest.first, limit <= count.units {
                rest.removeFirst()
                // Skip a limit that would leave an empty bucket.
                guard buckets[buckets.count - 1].count > 0 else { continue }
                buckets[buckets.count - 1].to = text(limit - 1)
                buckets.append(Bucket(from: text(limit), count: 0))
                used.append(limit)
            }
            buckets[buckets.count - 1].count += count.count
        }
        self.buckets = counts.isEmpty ? [] : buckets
        self.limits = used
    }

    fileprivate mutating func recount(_ count: (ClosedRange<Int128>) -> Int) {
        for index in buckets.indices {
            let lower = index == 0 ? Int128.min : limits[index - 1]
            buckets[index].count = count(lower...(index < limits.count ? limits[index] - 1 : .max))
        }
    }

    /// Returns ascending limits between buckets with about equal counts, as far as round limits allow.
    private static func limits(_ counts: [Count], _ form: AttributeForm) -> [Int128] {
        let total = counts.reduce(0) { $0 + $1.count }
        guard let first = counts.first, let last = counts.last, total > 0 else { return [] }
        let parts = PriceBucket.limit
        var limits: Set<Int128> = []
        var below = 0
        for count in counts {
            // The quantiles: the values at or below which 1/5, 2/5 … of the products are.
            let isPassed = (1..<parts).contains {
                below < $0 * total / parts && below + count.count >= $0 * total / parts
            }
            if isPassed { limits.insert(form.rounded(count.units, spanning: last.units - first.units)) }
            below += count.count
        }
        // A value between a limit and the upper limit of the bucket below, which only a ratio can have, would be in neither.
        let between = Set(counts.lazy.filter(\.isRounded).map { $0.units + 1 })
        return limits.subtracting(between).sorted()
    }
}

extension AttributeForm {
    /// Returns the text of a value in its smallest unit.
    fileprivate func text(ofUnits units: Int128) -> String {
        switch self {
        case .number(let decimals): ExactDecimal(units, scale: decimals).description
        case .date: Timestamp.date(ofDay: Int(units))
        default: ExactDecimal(units, scale: Self.limitDecimals).description
        }
    }

    /// Returns a round value near another one: the first day of a month or a year, or few digits.
    ///
    /// - Parameter span: the distance of the least and the greatest value.
    fileprivate func rounded(_ units: Int128, spanning span: Int128) -> Int128 {
        guard case .date = self else {
            return units == 0 ? 0 : PriceBucket.nearestRound(abs(units)) * units.signum()
        }
        let text = Timestamp.date(ofDay: Int(units))
        let start = span >= 5 * 366 ? text.prefix(4) + "-01-01" : span >= 5 * 31 ? text.prefix(7) + "-01" : text[...]
        return AttributeValue.day(String(start)).map { Int128($0) } ?? units
    }
}
