/// The outcome of a write, recorded as JSON with its idempotency key and returned to a repeated request.
package protocol RecordableOutcome: Sendable {
    var recorded: RecordedResponse { get }
    /// - Throws: `fault` for an invalid record.
    init(recorded: RecordedResponse) throws(CatalogError)
}
