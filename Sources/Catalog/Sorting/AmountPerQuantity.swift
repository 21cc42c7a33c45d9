/// A price per quantity, such as 1.20 per 100 g, in the currency of the store where it is compared.
package struct AmountPerQuantity: Sendable, Hashable {
    package let amount: ExactDecimal
    package let quantity: ExactDecimal
    package let unit: MeasureUnit

    /// Parses `1.20/100g`, `12/kg`, `0.5 / piece`; nil for anything else, or if a price or size limit is exceeded.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0).trimmed }
        guard halves.count == 2, let amount = FilterValue.amount(of: halves[0]), amount.significand < Self.limit
        else { return nil }
        let digits = halves[1].prefix { $0.isASCIIDigit || $0 == "." }
        guard let unit = MeasureUnit(spelling: String(halves[1].dropFirst(digits.count)).trimmed),
            let quantity = digits.isEmpty ? ExactDecimal(1) : ExactDecimal(digits), digits.utf8.count <= 12,
            let base = quantity.multiplied(by: unit.factor), !base.isZero
        else { return nil }
        self.amount = amount
        self.quantity = quantity
        self.unit = unit
        self.baseQuantity = base
    }

    /// The quantity in g, ml, pieces, m, m² or doses.
    package let baseQuantity: ExactDecimal

    /// The exclusive limit of an amount's significand: multiplied by any size, it fits into 128 bits.
    private static let limit: Int128 = 1_000_000_000_000_000

    package var text: String { "\(amount)/\(quantity == ExactDecimal(1) ? "" : quantity.description)\(unit.rawValue)" }

    /// Returns whether a product's unit price is at most this amount. The comparison is exact.
    func covers(_ product: Product, in currency: Currency) -> Bool {
        guard let price = product.priceMinor, let size = product.size else { return false }
        return covers(price, per: size.baseQuantity, of: size.unit.dimension, in: currency)
    }

    /// Returns whether the price of a quantity, in g, ml, pieces, m, m² or doses, is at most this amount. The comparison is exact.
    package func covers(
        _ priceMinor: Int64,
        per productQuantity: ExactDecimal,
        of dimension: Dimension,
        in currency: Currency
    ) -> Bool {
        guard dimension == unit.dimension,
            let cost = baseQuantity.multiplied(by: ExactDecimal(Int128(priceMinor), scale: currency.exponent)),
            let limit = productQuantity.multiplied(by: amount)
        else { return false }
        return cost <= limit
    }
}
