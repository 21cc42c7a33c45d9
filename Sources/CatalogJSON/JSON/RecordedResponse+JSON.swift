package import Catalog
internal import JSON

/// The outcome of a write, recorded as JSON with its idempotency key and returned to a repeated request.
package protocol RecordableOutcome: Sendable {
    var recorded: RecordedResponse { get }
    /// - Throws: `fault` for an invalid record.
    init(recorded: RecordedResponse) throws(CatalogError)
}

extension IdempotentCall where Outcome: RecordableOutcome {
    package init(key: String, fingerprint: [UInt8]) {
        self.init(
            key: key,
            fingerprint: fingerprint,
            encode: { $0.recorded },
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

extension LogPosition {
    /// The version of the form of tokens.
    private static let version: UInt8 = 1
    /// The length of a token's bytes: version, cluster, timeline and offset.
    private static let length = 1 + 8 + 4 + 8

    /// The position as opaque text of letters, digits, `-` and `_`.
    package var token: String {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
        return Base64URL.encode([Self.version] + bytes(cluster) + bytes(timeline) + bytes(offset))
    }

    /// Returns the position of a token; nil for any other text.
    package init?(token: String) {
        guard let bytes = Base64URL.decode(token), bytes.count == Self.length, bytes[0] == Self.version else {
            return nil
        }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        let offset = Int64(bitPattern: number(13..<21))
        guard offset >= 0 else { return nil }
        self.init(
            cluster: Int64(bitPattern: number(1..<9)),
            timeline: UInt32(number(9..<13)),
            offset: offset
        )
    }
}
