/// A change to a list.
package enum ListEdit: Sendable, Hashable {
    case add([NewListItem])
    /// Changes items, in sequence.
    case change([ListItemChange])
    /// Moves items in the manual order, in sequence.
    case move([OrderMove])
    case set(ListSettings)
}
