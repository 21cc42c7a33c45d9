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
