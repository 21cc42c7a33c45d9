/// A change of a user's settings or lists, of which the user's devices receive an event.
package enum UserEvent: Sendable {
    case setting(Setting)
    /// A change of a list.
    case list(ListOutcome)
    /// A list that devices do not have yet. They read it when they receive the event.
    case newList(UserList)
    /// The user left a list, or was removed from it.
    case leftList(UniqueID)
    /// A change of the order of the user's lists.
    case listOrder(ListMoveOutcome)

    /// A function that returns the data of an event, in the format that devices read.
    package typealias Encoder = @Sendable (UserEvent) -> [UInt8]
}
