internal import JSON
package import Catalog

extension PriceOutcome {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("changed", changed)
            json.field("unchanged", unchanged)
            json.array("shelves", shelves.map(\.text).sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}

extension PriceOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let changed = try reader.integer("changed"), let unchanged = try reader.integer("unchanged"),
                let shelves = try reader.strings("shelves")
            else { return nil }
            var outcome = PriceOutcome()
            (outcome.changed, outcome.unchanged) = (Int(changed), Int(unchanged))
            outcome.shelves = Set(shelves.compactMap { CatalogKey($0) })
            return outcome
        }
    }
}
