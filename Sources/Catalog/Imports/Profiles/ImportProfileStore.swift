/// The saved profiles of imports.
package protocol ImportProfileStore: Sendable {
    /// All profiles, by name.
    func importProfiles() async throws(CatalogError) -> [SavedImportProfile]
    /// - Throws: `notFound`.
    func importProfile(_ name: CatalogKey) async throws(CatalogError) -> SavedImportProfile
    /// Creates or replaces a profile.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `conflict` if there are too many.
    func put(importProfile document: String, _ name: CatalogKey) async throws(CatalogError) -> Bool
    /// - Throws: `notFound`.
    func remove(importProfile name: CatalogKey) async throws(CatalogError)
    /// Returns the time on the clock of a time zone, as if that showed UTC; nil for an unknown time zone.
    func localTime(in timeZone: String) async throws(CatalogError) -> Timestamp?
}

extension ImportProfileStore {
    /// Returns the time on the clock of a time zone, as if that showed UTC.
    ///
    /// - Throws: `unprocessable` for an unknown time zone.
    package func checkedLocalTime(in timeZone: String) async throws(CatalogError) -> Timestamp {
        guard let time = try await localTime(in: timeZone) else {
            throw .unprocessable(
                field: "time_zone",
                detail: "time_zone “\(timeZone)” is not the name of a time zone, such as Europe/Zagreb"
            )
        }
        return time
    }
}

/// A saved profile.
package struct SavedImportProfile: Sendable, Hashable {
    package let name: CatalogKey
    /// The profile as JSON.
    package let document: String
    package let modifiedAt: Timestamp

    package init(name: CatalogKey, document: String, modifiedAt: Timestamp) {
        self.name = name
        self.document = document
        self.modifiedAt = modifiedAt
    }
}
