internal import JSON
package import Catalog

extension UserList {
    /// The event for a list that devices do not have yet: they read the list when they receive it.
    package var announcement: [UInt8] {
        var json = JSONWriter(reserving: 400)
        json.object { json in
            writeHead(to: &json)
            json.field("version", version)
            json.field("resync", true)
        }
        return json.bytes
    }

    func writeHead(to json: inout JSONWriter) {
        json.object("list") { json in
            json.field("id", id.text)
            json.field("name", name)
            json.field("auto_sort", autoSort)
            json.field("sort", sort.rawValue)
            json.field("version", version)
            json.field("modified_at", modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
        }
    }
}
