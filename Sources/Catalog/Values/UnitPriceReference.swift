/// The reference quantity of displayed unit prices.
package struct UnitPriceReference: Hashable, Sendable, CustomStringConvertible {
    package let amount: Int
    package let unit: MeasureUnit

    package init(_ amount: Int, _ unit: MeasureUnit) {
        self.amount = amount
        self.unit = unit
    }

    /// The quantity in the base unit.
    package var quantity: ExactDecimal { unit.factor.multiplied(by: ExactDecimal(Int128(amount)))! }

    /// The text in responses: `1 kg`, `100 pieces`.
    package var description: String { "\(amount) \(unit.rawValue)\(unit == .piece && amount > 1 ? "s" : "")" }
}
