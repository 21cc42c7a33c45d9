package import Catalog
internal import JSON

/// The outcome of a write, recorded as JSON with its idempotency key and returned to a repeated request.
package protocol RecordableOutcome: Sendable {
    var recorded: RecordedResponse { get }
    /// Returns the record. An outcome whose form depends on the time becomes the record, so that repeats return the same.
    mutating func record() -> RecordedResponse
    /// - Throws: `fault` for an invalid record.
    init(recorded: RecordedResponse) throws(CatalogError)
}

extension RecordableOutcome {
    package mutating func record() -> RecordedResponse { recorded }
}

extension IdempotentCall where Outcome: RecordableOutcome {
    package init(key: String, fingerprint: [UInt8]) {
        self.init(
            key: key,
            fingerprint: fingerprint,
            encode: { $0.record() },
            decode: { recorded throws(CatalogError) in try Outcome(recorded: recorded) }
        )
    }
}

extension RecordedResponse: RecordableOutcome {
    package var recorded: RecordedResponse { self }

    package init(recorded: RecordedResponse) { self = recorded }
}

extension RecordedResponse {
    /// Reads the members of the recorded object.
    ///
    /// - Parameter body: returns nil if a required member is missing.
    /// - Throws: `fault` if the record is not an object, or not of this kind.
    func read<T>(_ body: (inout BodyReader) throws(CatalogError) -> T?) throws(CatalogError) -> T {
        do {
            var reader = try BodyReader(try JSONReader.parse(self.body, valueLimit: .max))
            if let value = try body(&reader) { return value }
        } catch {}
        throw .fault("invalid recorded response")
    }
}
