package import JSON

/// The current state of a user's setting.
package struct Setting: Sendable, Hashable {
    package var key: SettingKey
    /// nil for a deleted setting.
    package var value: JSONValue?
    /// The revision: unique per user and higher than that of every earlier change.
    package var revision: Int64
    package var modifiedAt: Timestamp

    package init(key: SettingKey, value: JSONValue?, revision: Int64, modifiedAt: Timestamp) {
        self.key = key
        self.value = value
        self.revision = revision
        self.modifiedAt = modifiedAt
    }

    package var isDeleted: Bool { value == nil }

    /// The maximum size of a value, in bytes of JSON without white space.
    package static let valueLimit = 4096
    /// The maximum number of settings per user, not counting deleted ones.
    package static let countLimit = 10_000
    /// The maximum number of tombstones per user.
    package static let tombstoneLimit = 10_000
    /// How long a tombstone is kept, in days.
    package static let tombstoneDays = 90

    /// The remembered sort in a catalog setting; nil if it is not valid.
    package var rememberedSort: RememberedSort? { value.flatMap { try? RememberedSort($0, field: "value") } }

    /// Validates a value that a client sets.
    ///
    /// - Throws: `unprocessable` for a value that is neither scalar nor object, or too large; `unknownSortKey`.
    package static func check(_ value: JSONValue, for key: SettingKey, field: String = "value") throws(CatalogError) {
        switch value {
        case .null: throw .unprocessable(field: field, detail: "\(field) must not be null; use DELETE instead")
        case .array: throw .unprocessable(field: field, detail: "\(field) must not be an array; wrap it in an object")
        case .bool, .number, .string, .object: break
        }
        let size = value.text.utf8.count
        guard size <= valueLimit else {
            throw .unprocessable(field: field, detail: "\(field) has \(size) bytes; the maximum is \(valueLimit)")
        }
        if key.isSort { _ = try RememberedSort(value, field: field) }
        if key == .listsSort {
            guard case .string(let text) = value, ListSort(rawValue: text) != nil else {
                throw .malformed(
                    parameter: field,
                    detail: "\(field) must be one of the allowed values (got \(value.text.prefix(64)))",
                    allowed: ListSort.allCases.map(\.rawValue)
                )
            }
        }
        if key == .listsSinkChecked {
            guard case .bool = value else {
                throw .unprocessable(field: field, detail: "\(field) must be true or false")
            }
        }
    }
}
