/// Hears what any server changes.
package protocol ChangeSource: Sendable {
    /// What is heard, until its consumer ends.
    func notices() throws -> AsyncStream<ChangeNotice>
}
