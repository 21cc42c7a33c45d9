package import Catalog
internal import Synchronization

extension InMemoryCatalog {
    package func importProfiles() async throws(CatalogError) -> [SavedImportProfile] {
        profiles.withLock { $0.values.sorted { $0.name < $1.name } }
    }

    package func importProfile(_ name: CatalogKey) async throws(CatalogError) -> SavedImportProfile {
        guard let found = profiles.withLock({ $0[name] }) else {
            throw .notFound("import profile “\(name)”")
        }
        return found
    }

    package func put(importProfile document: String, _ name: CatalogKey) async throws(CatalogError) -> Bool {
        let now = clock()
        return profiles.withLock { profiles in
            let old = profiles[name]
            if old?.document != document {
                profiles[name] = SavedImportProfile(name: name, document: document, modifiedAt: now)
            }
            return old == nil
        }
    }

    package func remove(importProfile name: CatalogKey) async throws(CatalogError) {
        guard profiles.withLock({ $0.removeValue(forKey: name) }) != nil else {
            throw .notFound("import profile “\(name)”")
        }
    }

    /// Knows only UTC.
    package func localTime(in timeZone: String) async throws(CatalogError) -> Timestamp? {
        timeZone == "UTC" ? clock() : nil
    }
}
