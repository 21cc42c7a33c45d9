/// A formatted unit price.
package struct UnitPriceDisplay: Hashable, Sendable {
    /// The price in the store's currency.
    package let value: String
    /// The reference quantity, such as `1 kg`.
    package let per: String
}
