/// What a follower is told.
package struct LiveEvent: Sendable, Hashable {
    package enum Name: String, Sendable {
        /// One of the user's settings changed.
        case setting
        /// One of the user's lists changed, or their order did.
        case list
        /// A shelf's order, or how it got to it.
        case order
        /// Something was missed: read everything again.
        case gap
        /// There is no such shelf any more; nothing follows.
        case gone
    }

    package var name: Name
    /// What to resume from.
    package var id: Int64
    /// JSON, on one line.
    package var data: [UInt8]

    package init(_ name: Name, id: Int64, data: [UInt8]) {
        self.name = name
        self.id = id
        self.data = data
    }
}
