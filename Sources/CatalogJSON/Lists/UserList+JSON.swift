package import Catalog

extension UserList {
    /// What devices are told of a list that they have nothing of: they are to read it.
    package var announcement: [UInt8] {
        var json = JSONText(reserving: 400)
        json.object { json in
            writeHead(to: &json)
            json.field("version", version)
            json.field("resync", true)
        }
        return json.bytes
    }

    func writeHead(to json: inout JSONText) {
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
