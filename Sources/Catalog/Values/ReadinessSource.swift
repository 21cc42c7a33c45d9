/// What knows whether the storage is ready.
package protocol ReadinessSource: Sendable {
    /// Returns the current readiness. A database with another schema version is unavailable.
    func readiness() async -> Readiness
}
