/// An event for a subscriber.
package struct LiveEvent: Sendable, Hashable {
    package enum Name: String, Sendable {
        /// The stream of a user is open; changes after the id follow.
        case start
        /// One of the user's settings changed.
        case setting
        /// One of the user's lists, or their order, changed.
        case list
        /// A shelf's order changed.
        case order
        /// Events were lost: the client must resync.
        case gap
        /// The shelf no longer exists; no more events follow.
        case gone
    }

    package var name: Name
    /// The id to resume from.
    package var id: Int64
    /// The event's data: single-line JSON.
    package var data: [UInt8]

    package init(_ name: Name, id: Int64, data: [UInt8]) {
        self.name = name
        self.id = id
        self.data = data
    }
}

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
