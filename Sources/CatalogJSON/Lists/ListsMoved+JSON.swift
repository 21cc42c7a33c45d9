package import Catalog

extension ListsMoved {
    package var json: [UInt8] {
        var json = JSONText(reserving: 100 + 100 * moved.count)
        json.object { json in
            json.field("revision", revision)
            json.object("diff") { OrderEditOutcome.write(moved, to: &$0) }
        }
        return json.bytes
    }
}

extension ListsMoved: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let revision = try reader.integer("revision"),
                let moved = try OrderEditOutcome.moved(reader.value("diff"))
            else { return nil }
            return ListsMoved(revision: revision, moved: moved)
        }
    }
}
