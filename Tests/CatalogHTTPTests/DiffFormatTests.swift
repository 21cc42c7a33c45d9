import Catalog
import Testing

@testable import CatalogHTTP

/// The format of a diff that a client prefers.
@Suite(.timeLimit(.minutes(15))) struct DiffFormatTests {
    private static let (json, patch, wire) = (
        "application/json", "application/json-patch+json", "application/vnd.aisle.diff"
    )

    @Test("Each format has its media type")
    func mediaTypes() {
        #expect(DiffFormat.json.mediaType == Self.json)
        #expect(DiffFormat.jsonPatch.mediaType == Self.patch)
        #expect(DiffFormat.wire.mediaType == Self.wire)
    }

    @Test(
        "The accepted format with the highest weight is sent, the first of equal ones, and JSON if there is none",
        arguments: [
            (nil, json), ("", json), ("*/*", json), ("application/*", json), ("text/html", json), (json, json),
            (patch, patch), (wire, wire), ("Application/JSON-Patch+JSON", patch), ("\(json), \(patch)", json),
            ("\(patch), \(json)", patch), ("\(json);q=0.5, \(wire)", wire), ("\(wire);q=0.5, \(json);q=0.4", wire),
            ("\(patch);q=0.4,\(wire);q=0.5,*/*;q=0.1", wire), ("\(patch);q=0", json), ("\(patch);q=0, \(wire)", wire),
            ("\(patch) ; q = 0.9, \(json);q=0.8", patch), ("\(patch);v=1;q=0.3, \(wire);q=0.2", patch),
            ("*/*, \(patch)", json), ("text/html, \(patch);q=0.2", patch), ("\(patch);q=x", patch),
        ] as [(String?, String)]
    )
    func preferredFormats(header: String?, type: String) {
        #expect(DiffFormat(accepting: header).mediaType == type)
    }

    @Test("Only the first 32 ranges of Accept count")
    func rangesAreLimited() {
        let others = (1...31).map { "text/x\($0)" }.joined(separator: ",")
        #expect(DiffFormat(accepting: others + "," + Self.wire) == .wire)
        #expect(DiffFormat(accepting: others + ",text/y," + Self.wire) == .json)
    }
}
