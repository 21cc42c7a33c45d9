/// Returns whether a condition that sends no event holds within a time limit.
package func eventually(
    within limit: Duration = .seconds(60),
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    var pause = Duration.milliseconds(2)
    while true {
        if try await condition() { return true }
        // Others need the processor, the more the longer they take. A cancelled test ends.
        guard ContinuousClock.now < deadline, (try? await Task.sleep(for: pause)) != nil else { return false }
        pause = min(pause * 2, .milliseconds(32))
    }
}
