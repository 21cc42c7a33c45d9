/// A source of change notifications from all servers.
package protocol ChangeSource: Sendable {
    /// Returns a stream of notifications; it ends when the consumer stops.
    func notices() throws -> AsyncStream<ChangeNotice>
}
