/// The placement of sold-out products.
package enum SoldOut: String, CaseIterable, Sendable, Hashable {
    /// After available products, whatever the sort and direction.
    case last
    /// Among available products, by the sort.
    case mixed
}
