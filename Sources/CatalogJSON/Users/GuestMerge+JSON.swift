package import Catalog

extension GuestMerge {
    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("merged", merged)
            json.field("kept", kept)
            json.field("revision", revision)
        }
        return json.bytes
    }
}
