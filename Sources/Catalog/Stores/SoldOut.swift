/// Where sold-out products stand.
package enum SoldOut: String, CaseIterable, Sendable, Hashable {
    /// Behind what is in stock, whatever the sort and direction.
    case last
    /// Wherever the sort puts them.
    case mixed
}
