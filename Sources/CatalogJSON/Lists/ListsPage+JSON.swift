internal import JSON
package import Catalog

extension ListsPage {
    package var json: [UInt8] {
        var json = JSONWriter(reserving: 300 * (entries.count + 1))
        json.object { json in
            json.array("lists", entries) { json, entry in
                entry.membership.write(items: entry.items, checked: entry.checked, to: &json)
            }
            if let sort { json.field("sort", sort.rawValue) }
            if let order { json.array("order", order) { $0.string($1.text) } }
            json.field("revision", revision)
            if isResync { json.field("resync", true) }
        }
        return json.bytes
    }
}
