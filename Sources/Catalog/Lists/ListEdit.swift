/// A change of a list.
package enum ListEdit: Sendable, Hashable {
    case add([NewListItem])
    /// The items in turn.
    case change([ListItemChange])
    /// Moves items in the manual order, one move after the other.
    case move([OrderMove])
    case set(ListSettings)
}
