package import Catalog

extension PriceOutcome {
    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("changed", changed)
            json.field("unchanged", unchanged)
            json.array("shelves", shelves.map(\.text).sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}
