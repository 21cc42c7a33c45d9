/// The use of a lane's connections at one time.
package struct LaneUse: Sendable, Hashable {
    package let lane: String
    /// The maximum number of connections.
    package let limit: Int
    /// The number of connections, including those that are being established.
    package let open: Int
    /// The number of leased connections; nil for pages, which share their connections.
    package let inUse: Int?
    /// The number of callers that wait; for pages, of reads in flight.
    package let waiting: Int
}
