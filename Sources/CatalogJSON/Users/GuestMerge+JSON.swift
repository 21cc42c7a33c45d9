internal import JSON
package import Catalog

extension GuestMerge {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("merged", merged)
            json.field("kept", kept)
            json.field("revision", revision)
        }
        return json.bytes
    }
}

extension GuestMerge: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let merged = try reader.integer("merged"), let kept = try reader.integer("kept"),
                let revision = try reader.integer("revision")
            else { return nil }
            return GuestMerge(merged: Int(merged), kept: Int(kept), revision: revision)
        }
    }
}
