/// The exact price of one base unit (g, ml, piece, m, m², dose): a fraction of minor units, never rounded.
///
/// A product without a price or a size has no unit price and sorts after all others in both directions.
package struct UnitPrice: Hashable, Sendable {
    package let priceMinor: Int64
    package let baseQuantity: BaseQuantity

    package var dimension: Dimension { baseQuantity.dimension }
    /// The base quantity in units of 10^−14.
    private var quantity: UInt128 { baseQuantity.digits }

    /// - Returns: nil without a price or a quantity, and for a price outside `0..<Product.priceLimit`.
    package init?(priceMinor: Int64?, baseQuantity: BaseQuantity?) {
        guard let priceMinor, let baseQuantity, (0..<Product.priceLimit).contains(Int128(priceMinor)) else {
            return nil
        }
        self.priceMinor = priceMinor
        self.baseQuantity = baseQuantity
    }

    /// - Returns: nil without a price or a size, and for a price outside `0..<Product.priceLimit`.
    package init?(priceMinor: Int64?, size: Size?) {
        self.init(priceMinor: priceMinor, baseQuantity: size.map(BaseQuantity.init))
    }

    /// Returns whether this price is lower than another in the same dimension. The comparison is exact.
    ///
    /// - Complexity: O(1): two 128-bit products, below 10³⁵.
    package func isLess(than other: UnitPrice) -> Bool {
        UInt128(priceMinor) * other.quantity < UInt128(other.priceMinor) * quantity
    }

    /// The price of a base unit as a floating-point number, with at most four rounding errors: of the lower half of the quantity, of the sum,
    /// and of two divisions.
    package var approximateValue: Double {
        // Converting 128 bits at once takes twenty times as long.
        let high = Double(UInt64(truncatingIfNeeded: quantity >> 64))
        let low = Double(UInt64(truncatingIfNeeded: quantity))
        return Double(priceMinor) / ((high * 0x1p64 + low) / 1e14)
    }

    /// Two prices of a dimension are in the order of their approximate values if the bit patterns of these differ by more than this.
    ///
    /// Each of four roundings changes a value by at most 2⁻⁵³ of it, which is at most one unit in the last place. So two values are
    /// off by at most 8 units, and 16 leaves a margin.
    package static let approximationError: UInt64 = 16

    package func isEqual(to other: UnitPrice) -> Bool {
        UInt128(priceMinor) * other.quantity == UInt128(other.priceMinor) * quantity
    }

    /// The digits of the database's sort key: minor units per base unit, rounded half up to 33 decimals.
    ///
    /// Different fractions in the allowed range differ by at least 10⁻³², so rounding keeps them distinct and ordered.
    package var key: String {
        let numerator = UInt128(priceMinor) * Self.quantityUnit
        var (whole, remainder) = numerator.quotientAndRemainder(dividingBy: quantity)
        var decimals: [UInt8] = []
        for _ in 0..<Self.keyScale {
            let (digit, rest) = (remainder * 10).quotientAndRemainder(dividingBy: quantity)
            decimals.append(UInt8(digit))
            remainder = rest
        }
        if remainder * 2 >= quantity {
            var index = decimals.count - 1
            while index >= 0, decimals[index] == 9 {
                decimals[index] = 0
                index -= 1
            }
            if index >= 0 { decimals[index] += 1 } else { whole += 1 }
        }
        return "\(whole)." + String(decoding: decimals.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
    }

    package static let keyScale = 33

    /// Returns the price of a reference quantity, rounded half up.
    ///
    /// The quotient is built by long division, one decimal at a time, so no intermediate value exceeds 128 bits. Prices
    /// are below 10¹², reference quantities below 3·10¹¹ in their own scale, quantities below 10²⁴, scales at most 10.
    ///
    /// - Returns: nil if the reference quantity has another dimension: such prices do not compare.
    package func display(
        per reference: UnitPriceReference,
        rounding: UnitPriceRounding,
        currency: Currency
    ) -> UnitPriceDisplay? {
        guard reference.unit.dimension == dimension else { return nil }
        let factor = reference.quantity
        // price × reference ÷ quantity in minor units: numerator ÷ denominator.
        let numerator = UInt128(priceMinor) * UInt128(factor.significand) * Self.quantityUnit
        let denominator = quantity * power(10, factor.scale)
        let isBelowOne = numerator < denominator * power(10, currency.exponent)
        let decimals = rounding.decimals(currency: currency, isBelowOne: isBelowOne)
        let shift = decimals - currency.exponent
        let divisor = denominator * power(10, -shift)
        var (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: divisor)
        for _ in 0..<max(0, shift) {
            let (digit, rest) = (remainder * 10).quotientAndRemainder(dividingBy: divisor)
            quotient = quotient * 10 + digit
            remainder = rest
        }
        let rounded = remainder >= divisor - remainder ? quotient + 1 : quotient
        return UnitPriceDisplay(
            value: ExactDecimal.digits(Int128(rounded), scale: decimals),
            per: reference.description
        )
    }

    /// The scale of `quantity` as a factor: 10¹⁴.
    private static let quantityUnit = UInt128(100_000_000_000_000)

    private func power(_ base: UInt128, _ exponent: Int) -> UInt128 {
        (0..<max(0, exponent)).reduce(UInt128(1)) { product, _ in product * base }
    }
}
