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

    /// Returns the reference quantity for a size.
    package func reference(for size: Size) -> UnitPriceReference {
        let quantity = size.baseQuantity
        func atLeast(_ amount: Int128, _ unit: MeasureUnit) -> Bool {
            ExactDecimal(amount).multiplied(by: unit.factor).map { quantity >= $0 } ?? false
        }
        return switch (self, size.unit.dimension) {
        case (.au, .mass): atLeast(1, .kg) ? .init(1, .kg) : .init(100, .g)
        case (.us, .mass): .init(1, .lb)
        case (_, .mass): .init(1, .kg)
        case (.au, .volume): atLeast(1, .l) ? .init(1, .l) : .init(100, .ml)
        case (.us, .volume): atLeast(1, .qt_us) ? .init(1, .qt_us) : .init(1, .floz_us)
        case (_, .volume): .init(1, .l)
        case (.se, .piece): atLeast(100, .piece) ? .init(100, .piece) : .init(1, .piece)
        case (.au, .piece): atLeast(41, .piece) ? .init(100, .piece) : .init(1, .piece)
        case (_, .piece): .init(1, .piece)
        case (.us, .length): .init(1, .ft)
        case (_, .length): .init(1, .m)
        case (.us, .area): .init(1, .ft2)
        case (_, .area): .init(1, .m2)
        case (_, .dose): .init(1, .dose)
        }
    }

    /// Returns the displayed unit price of a product; nil if it has none.
    package func display(priceMinor: Int64?, size: Size?, currency: Currency) -> UnitPriceDisplay? {
        guard let size, let price = UnitPrice(priceMinor: priceMinor, size: size) else { return nil }
        return price.display(per: reference(for: size), rounding: rounding, currency: currency)
    }
}
