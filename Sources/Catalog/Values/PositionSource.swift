/// A source of positions, with which a client later asks for a state that includes its writes.
package protocol PositionSource: Sendable {
    /// Whether some reads may be answered by replicas, which follow the database with a delay.
    var hasReplicas: Bool { get }

    /// Returns the current position of the database, which includes everything that was committed before the call.
    func position() async throws(CatalogError) -> LogPosition
}
