/// A product's value of one sort key, as cursors contain it.
package enum SortValue: Hashable, Sendable {
    case missing
    case integer(Int64)
    /// A unit price's dimension and the digits of its exact key.
    case unitPrice(Dimension, digits: String)
    case real(Double)
    case text(String)
    case bytes([UInt8])
}
