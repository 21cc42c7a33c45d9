package import JSON
package import Catalog

extension Setting {
    package func write(to json: inout JSONWriter, isApplied: Bool? = nil) {
        json.object { json in
            json.field("key", key.text)
            if let value { json.field("value", json: value.text) } else { json.field("deleted", true) }
            json.field("revision", revision)
            json.field("modified_at", modifiedAt.rfc3339)
            if let isApplied { json.field("applied", isApplied) }
        }
    }

    package var json: [UInt8] { JSONWriter.document { write(to: &$0) } }
}

extension SettingsPage {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.array("settings", settings) { $1.write(to: &$0) }
            json.field("revision", revision)
            if isResync { json.field("resync", true) }
        }
        return json.bytes
    }
}

extension [SettingsEdit.Result] {
    /// The current settings, and whether each write was applied.
    ///
    /// There is no revision to continue from, because concurrent changes are not included.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.array("settings", self) { $1.setting.write(to: &$0, isApplied: $1.isApplied) }
        }
        return json.bytes
    }
}
