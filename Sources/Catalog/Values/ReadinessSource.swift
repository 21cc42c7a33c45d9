/// A source of the storage's readiness.
package protocol ReadinessSource: Sendable {
    /// Returns the current readiness. A database with another schema version is unavailable.
    func readiness() async -> Readiness
}
