internal import JSON
package import Catalog

extension ShelfOrder {
    package var json: [UInt8] {
        var json = JSONWriter(reserving: list.count * 16 + 128)
        json.object { json in
            json.field("sort", sort.description)
            json.field("source", source.rawValue)
            json.field("filter", json: view.filterJSON.text)
            if let version {
                json.field("version", version)
                json.field("order_version", head.state.orderVersion)
            }
            json.array("ids", list) { $0.string($1) }
        }
        return json.bytes
    }
}
