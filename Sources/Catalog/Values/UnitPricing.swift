/// A store's rules for displaying unit prices: reference quantity and rounding.
package enum UnitPricing: String, CaseIterable, Sendable, Hashable, Codable {
    case eu, se, gb, au, us

    /// How unit prices are rounded for display.
    package var rounding: UnitPriceRounding {
        switch self {
        case .eu: .currency
        case .se, .au: .hundredths
        case .gb, .us: .thousandthsBelowOne
        }
    }

    /// Returns the reference quantity of a dimension. The size of a pack never decides.
    package func reference(for dimension: Dimension) -> UnitPriceReference {
        switch (self, dimension) {
        case (.us, .mass): .init(1, .lb)
        case (.au, .mass): .init(100, .g)
        case (.eu, .mass), (.se, .mass), (.gb, .mass): .init(1, .kg)
        case (.us, .volume): .init(1, .qt_us)
        case (.au, .volume): .init(100, .ml)
        case (.eu, .volume), (.se, .volume), (.gb, .volume): .init(1, .l)
        case (.us, .length): .init(1, .ft)
        case (_, .length): .init(1, .m)
        case (.us, .area): .init(1, .ft2)
        case (_, .area): .init(1, .m2)
        case (_, .piece): .init(1, .piece)
        case (_, .dose): .init(1, .dose)
        }
    }

    /// Returns the displayed unit price of a product; nil if it has none.
    package func display(priceMinor: Int64?, size: Size?, currency: Currency) -> UnitPriceDisplay? {
        guard let size, let price = UnitPrice(priceMinor: priceMinor, size: size) else { return nil }
        return price.display(per: reference(for: price.dimension), rounding: rounding, currency: currency)
    }
}

/// A formatted unit price.
package struct UnitPriceDisplay: Hashable, Sendable {
    /// The price in the store's currency.
    package let value: String
    /// The reference quantity, such as `1 kg`.
    package let per: String
}

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

/// The number of decimals of a displayed unit price.
package enum UnitPriceRounding: Sendable, Hashable {
    /// The currency's own.
    case currency
    /// Two.
    case hundredths
    /// Three below one unit of the currency, otherwise two.
    case thousandthsBelowOne

    func decimals(currency: Currency, isBelowOne: Bool) -> Int {
        switch self {
        case .currency: currency.exponent
        case .hundredths: 2
        case .thousandthsBelowOne: isBelowOne ? 3 : 2
        }
    }
}
