internal import JSON
package import Catalog

extension ListMoveOutcome {
    package var json: [UInt8] {
        var json = JSONWriter(reserving: 100 + 100 * moved.count)
        json.object { json in
            json.field("revision", revision)
            json.object("diff") { OrderEditOutcome.write(moved, to: &$0) }
        }
        return json.bytes
    }
}

extension ListMoveOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let revision = try reader.integer("revision"),
                let moved = try OrderEditOutcome.moved(reader.value("diff"))
            else { return nil }
            return ListMoveOutcome(revision: revision, moved: moved)
        }
    }
}
