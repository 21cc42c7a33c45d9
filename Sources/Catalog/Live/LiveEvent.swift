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
