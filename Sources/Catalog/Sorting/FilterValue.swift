/// The value of one filter key.
package enum FilterValue: Sendable, Hashable {
    /// Sorted by bytes, without duplicates.
    case texts([String])
    case flag(Bool)
    case amount(ExactDecimal)
    case amountPerQuantity(AmountPerQuantity)
    case moment(Timestamp)
    /// In declaration order, without duplicates.
    case dimensions([Dimension])
}

extension FilterValue {
    /// Parses a non-negative decimal with at most 12 digits before and 6 after the point.
    static func amount(of text: String) -> ExactDecimal? {
        guard let amount = ExactDecimal(text), !amount.isNegative, amount.scale <= 6,
            amount < ExactDecimal(1_000_000_000_000)
        else { return nil }
        return amount
    }
}
