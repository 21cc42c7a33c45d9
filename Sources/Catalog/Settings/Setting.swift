/// One of a user's settings, as it stands.
package struct Setting: Sendable, Hashable {
    package var key: SettingKey
    /// nil for one that was deleted.
    package var value: JSONValue?
    /// Unique among the user's settings, and higher than those of all changes before.
    package var revision: Int64
    package var modifiedAt: Timestamp

    package init(key: SettingKey, value: JSONValue?, revision: Int64, modifiedAt: Timestamp) {
        self.key = key
        self.value = value
        self.revision = revision
        self.modifiedAt = modifiedAt
    }

    package var isDeleted: Bool { value == nil }

    /// The most bytes of a value, as JSON without white space.
    package static let valueLimit = 4096
    /// The most settings of a user, without deleted ones.
    package static let countLimit = 10_000
    /// The most deletions of a user that are remembered.
    package static let tombstoneLimit = 10_000
    /// How long it is remembered that a setting was deleted, in days.
    package static let tombstoneDays = 90

    /// What a setting of the catalog's own holds; nil where it is none that exists.
    package var view: RememberedView? { value.flatMap { try? RememberedView($0, field: "value") } }

    /// Checks what a client wants to set.
    ///
    /// - Throws: `unprocessable` for a value that is neither scalar nor object, or too large; `unknownSortKey`.
    package static func check(_ value: JSONValue, for key: SettingKey, field: String = "value") throws(CatalogError) {
        switch value {
        case .null: throw .unprocessable(field: field, detail: "\(field) is null; DELETE takes a setting away")
        case .array: throw .unprocessable(field: field, detail: "\(field) is an array; wrap it in an object")
        case .bool, .number, .string, .object: break
        }
        let size = value.text.utf8.count
        guard size <= valueLimit else {
            throw .unprocessable(field: field, detail: "\(field) has \(size) bytes; at most \(valueLimit) are kept")
        }
        if key.isSort { _ = try RememberedView(value, field: field) }
        if key == .listsSort {
            guard case .string(let text) = value, ListSort(rawValue: text) != nil else {
                throw .malformed(
                    parameter: field,
                    detail: "\(field) must be one of those allowed",
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
