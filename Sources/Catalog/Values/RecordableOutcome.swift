/// The outcome of a write that is kept with its idempotency key, as JSON, and read again for a repeat of the request.
package protocol RecordableOutcome: Sendable {
    var recorded: RecordedResponse { get }
    /// - Throws: `fault` for a record that cannot be read.
    init(recorded: RecordedResponse) throws(CatalogError)
}
