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
