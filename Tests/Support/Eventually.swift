/// Returns whether a condition that sends no event holds within a time limit.
package func eventually(
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while true {
        if try await condition() { return true }
        // Others need the processor. A cancelled test ends.
        guard ContinuousClock.now < deadline, (try? await Task.sleep(for: .milliseconds(5))) != nil else {
            return false
        }
    }
}
