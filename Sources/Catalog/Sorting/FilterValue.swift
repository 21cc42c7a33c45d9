/// What a filter compares by one key.
package enum FilterValue: Sendable, Hashable {
    /// In the order of their bytes, none twice.
    case texts([String])
    case flag(Bool)
    case amount(ExactDecimal)
    case amountPerQuantity(AmountPerQuantity)
    case moment(Timestamp)
    /// In their own order, none twice.
    case dimensions([Dimension])
}

extension FilterValue {
    /// A decimal that a price may be compared with: not negative, at most 12 digits before the point and 6 behind.
    static func amount(of text: String) -> ExactDecimal? {
        guard let amount = ExactDecimal(text), !amount.isNegative, amount.scale <= 6,
            amount < ExactDecimal(1_000_000_000_000)
        else { return nil }
        return amount
    }
}
