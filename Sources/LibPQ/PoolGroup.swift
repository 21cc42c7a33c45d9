/// Callers of a pool that need the same other server, such as a worker of a cluster.
///
/// Each group uses only a part of the connections, so that a server that does not respond delays no other group.
package struct PoolGroup: Sendable, Hashable {
    /// Identifies the group.
    package let name: String
    /// The part of the connections, and of the places in the queue, that the group may use: one of so many.
    package let divisor: Int

    package init(_ name: String, divisor: Int = 2) {
        self.name = name
        self.divisor = divisor
    }
}
