package import JSON
package import Catalog

extension SettingsEdit.Write {
    /// Parses `{"value":…}` for one setting. Other response fields are accepted and ignored.
    package init(_ key: SettingKey, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        reader.ignore("key", "revision", "modified_at")
        let value = reader.value("value")
        try reader.end()
        guard let value else {
            throw .unprocessable(
                field: "value",
                detail: "value is required and must not be null; use DELETE to delete a setting"
            )
        }
        try Setting.check(value, for: key)
        self.init(key, value)
    }
}

extension SettingsEdit {
    /// Parses `{"settings":[{"key":…,"value":…,"modified_at":…},{"key":…,"deleted":true,"modified_at":…}]}` from a device that was offline.
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        reader.ignore("revision", "resync")
        guard case .array(let items)? = reader.value("settings") else {
            throw .malformed(parameter: "settings", detail: "settings is required and must be an array")
        }
        try reader.end()
        guard items.count <= Setting.countLimit + Setting.tombstoneLimit else { throw SettingsEdit.tooManySettings() }
        var writes: [Write] = []
        for (index, item) in items.enumerated() {
            writes.append(try Self.write(item, "settings[\(index)]"))
        }
        if let repeated = writes.map(\.key).firstRepeat {
            throw .unprocessable(field: "settings", detail: "duplicate key “\(repeated)”")
        }
        self.init(writes)
    }

    private static func write(_ item: JSONValue, _ place: String) throws(CatalogError) -> Write {
        let example = #"{"key":"theme","value":"dark","modified_at":"2026-03-01T09:30:00Z"}"#
        var reader = try BodyReader(item, parameter: place, example: example)
        reader.ignore("revision", "applied")
        guard case .string(let text)? = reader.value("key"), let key = SettingKey(text) else {
            throw .unprocessable(field: "\(place).key", detail: "\(place).key must be \(SettingKey.rule)")
        }
        guard case .string(let time)? = reader.value("modified_at"), let modifiedAt = Timestamp(rfc3339: time) else {
            throw .unprocessable(
                field: "\(place).modified_at",
                detail: "\(place).modified_at must be a time such as 2026-03-01T09:30:00Z"
            )
        }
        let isDeleted = try reader.bool("deleted") ?? false
        let value = reader.value("value")
        try reader.end()
        if let value, !isDeleted {
            try Setting.check(value, for: key, field: "\(place).value")
        } else if value != nil || !isDeleted {
            throw .unprocessable(field: place, detail: "\(place) must have either a value or \"deleted\":true")
        }
        return Write(key, value, modifiedAt: modifiedAt)
    }
}
