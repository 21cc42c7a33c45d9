/// A period in which a product's price is below its base price. A further fall may start another one.
///
/// Its prior price is fixed when it starts, so it does not change with time alone (Directive 98/6/EC, article 6a; CJEU C-330/23).
package struct PriceReduction: Hashable, Sendable {
    /// When the reduction started.
    package var startedAt: Timestamp
    /// The lowest price of the 30 days before, in minor units; nil if it is unknown.
    package var priorPriceMinor: Int64?

    package init(startedAt: Timestamp, priorPriceMinor: Int64?) {
        self.startedAt = startedAt
        self.priorPriceMinor = priorPriceMinor
    }

    /// The rules of a store.
    package struct Rules: Hashable, Sendable {
        /// Whether the prior price stays when the price falls further; otherwise, another reduction starts.
        package var keepsFirstPriorPrice: Bool
        /// Whether the prior price of a product younger than 30 days is the lowest since its first price; otherwise, it has none.
        package var countsYoungProducts: Bool

        package init(keepsFirstPriorPrice: Bool = false, countsYoungProducts: Bool = true) {
            self.keepsFirstPriorPrice = keepsFirstPriorPrice
            self.countsYoungProducts = countsYoungProducts
        }
    }

    /// Returns the reduction after a change of prices; nil if the price is not reduced then. O(n) for n prices of the history.
    ///
    /// - Parameters:
    ///   - current: the reduction before the change; nil for none.
    ///   - old: the prices before the change; nil if the product is new.
    ///   - new: the prices after the change.
    ///   - time: the time of the change.
    ///   - history: the prices before the change.
    ///   - stated: the prior price that the chain states; nil for none.
    /// - Precondition: `current` is nil exactly if the old price is not reduced.
    package static func following(
        _ current: PriceReduction?,
        from old: PriceRevision.Prices?,
        to new: PriceRevision.Prices,
        at time: Timestamp,
        history: PriceHistory,
        stated: Int64? = nil,
        rules: Rules
    ) -> PriceReduction? {
        precondition((current != nil) == (old?.isReduced ?? false), "each reduced price has its reduction")
        guard let price = new.price, new.isReduced else { return nil }
        if let current, let oldPrice = old?.price, rules.keepsFirstPriorPrice || price >= oldPrice { return current }
        let isComplete = history.isComplete(before: time)
        let lowest = isComplete || rules.countsYoungProducts ? history.lowestPrice(before: time) : nil
        return PriceReduction(
            startedAt: time,
            priorPriceMinor: priorPrice(lowest, isComplete: isComplete, stated: stated)
        )
    }

    /// Returns the prior price: the lowest one of the history. A stated price counts if it is lower, or if the history is too short or has no
    /// price.
    package static func priorPrice(_ lowest: Int64?, isComplete: Bool, stated: Int64?) -> Int64? {
        guard let stated else { return lowest }
        guard isComplete, let lowest else { return stated }
        return min(lowest, stated)
    }
}

extension PriceRevision.Prices {
    /// Whether the current price is below the base price.
    package var isReduced: Bool {
        guard let price, let regular else { return false }
        return price < regular
    }
}

/// A reduction as a fraction of the reference price, compared exactly.
package struct Discount: Hashable, Sendable, Comparable {
    /// Both in minor units.
    package let reduction, reference: Int64

    /// - Returns: nil unless the reference exceeds the price.
    package init?(from reference: Int64?, to price: Int64?) {
        guard let reference, let price, price < reference else { return nil }
        reduction = reference - price
        self.reference = reference
    }

    package static func < (a: Discount, b: Discount) -> Bool {
        a.reduction.multipliedFullWidth(by: b.reference) < b.reduction.multipliedFullWidth(by: a.reference)
    }

    package static func == (a: Discount, b: Discount) -> Bool { !(a < b) && !(b < a) }

    package func hash(into hasher: inout Hasher) {
        // Equal fractions are equal in lowest terms.
        let divisor = greatestCommonDivisor(reduction, reference)
        hasher.combine(reduction / divisor)
        hasher.combine(reference / divisor)
    }

    /// Whether the discount is at least a percentage.
    package func isAtLeast(percent: Int) -> Bool { Int128(reduction) * 100 >= Int128(reference) * Int128(percent) }
}

private func greatestCommonDivisor(_ a: Int64, _ b: Int64) -> Int64 { b == 0 ? a : greatestCommonDivisor(b, a % b) }
