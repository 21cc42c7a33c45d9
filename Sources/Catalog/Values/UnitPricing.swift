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
