/// A price for a quantity, such as 1.20 for 100 g: in the currency of whatever store it is compared in.
package struct AmountPerQuantity: Sendable, Hashable {
    package let amount: ExactDecimal
    package let quantity: ExactDecimal
    package let unit: MeasureUnit

    /// Reads `1.20/100g`, `12/kg`, `0.5 / piece`; nil for anything else, and for what is out of the bounds of prices and sizes.
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

    /// In g, ml, pieces, m, m² or doses.
    package let baseQuantity: ExactDecimal

    /// The digits of an amount are fewer, so that it times any size fits into 128 bits.
    private static let limit: Int128 = 1_000_000_000_000_000

    package var text: String { "\(amount)/\(quantity == ExactDecimal(1) ? "" : quantity.description)\(unit.rawValue)" }

    /// Whether a product costs no more. Exact.
    func covers(_ product: Product, in currency: Currency) -> Bool {
        guard let price = product.priceMinor, let size = product.size, size.unit.dimension == unit.dimension,
            let cost = baseQuantity.multiplied(by: ExactDecimal(Int128(price), scale: currency.exponent)),
            let limit = size.baseQuantity.multiplied(by: amount)
        else { return false }
        return cost <= limit
    }
}
