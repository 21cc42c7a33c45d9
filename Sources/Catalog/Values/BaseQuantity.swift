/// The quantity of a product in g, ml, pieces, m, m² or doses, from which its unit price follows.
package struct BaseQuantity: Sendable, Hashable {
    package let dimension: Dimension
    /// The quantity in units of 10^−14; between 10¹¹ and 10²³, the bounds of `Size.quantityRange`.
    package let digits: UInt128

    /// Creates a quantity from its digits; nil if they are out of range.
    package init?(dimension: Dimension, digits: UInt128) {
        guard Self.range.contains(digits) else { return nil }
        (self.dimension, self.digits) = (dimension, digits)
    }

    /// Creates a quantity from a number of base units; nil if it is out of range, or has more decimals than sizes have.
    package init?(_ quantity: ExactDecimal, dimension: Dimension) {
        guard let digits = quantity.significand(atScale: Size.quantityScale), digits >= 0 else { return nil }
        self.init(dimension: dimension, digits: UInt128(digits))
    }

    package init(_ size: Size) {
        (dimension, digits) = (size.unit.dimension, Self.digits(size.baseQuantity))
    }

    private static func digits(_ quantity: ExactDecimal) -> UInt128 {
        guard let digits = quantity.significand(atScale: Size.quantityScale) else {
            preconditionFailure("a size has at most \(Size.quantityScale) decimals")
        }
        return UInt128(digits)
    }

    private static let range = digits(Size.quantityRange.lowerBound)...digits(Size.quantityRange.upperBound)

    package var decimal: ExactDecimal { ExactDecimal(Int128(digits), scale: Size.quantityScale) }
}
