package import Catalog

extension ImportProfileStore {
    /// Returns a built-in or saved profile.
    ///
    /// - Throws: `notFound`, with the names of the built-in profiles.
    package func profile(named name: String) async throws(CatalogError) -> ImportProfile {
        if let known = ImportProfile.builtIn(name) { return known }
        let builtIn = ImportProfile.builtIn.map(\.name)
        let hint = name.closest(among: builtIn).map { "did you mean “\($0)”? " } ?? ""
        let notFound = CatalogError.notFound(
            "import profile “\(name.prefix(64))” (\(hint)built in are \(builtIn.joined(separator: ", ")))"
        )
        guard let key = CatalogKey(name) else { throw notFound }
        do {
            return try ImportProfile(document: Array(try await importProfile(key).document.utf8))
        } catch .notFound {
            throw notFound
        }
    }

    /// Checks and saves a profile.
    ///
    /// - Returns: whether it was created.
    /// - Throws: `conflict` for the name of a built-in profile, `unprocessable` for an unknown time zone.
    package func save(_ profile: ImportProfile, named name: CatalogKey) async throws(CatalogError) -> Bool {
        guard ImportProfile.builtIn(name.text) == nil else {
            throw .conflict("import profile “\(name)” is built in; save yours under another name")
        }
        if let timeZone = profile.timeZone { _ = try await checkedLocalTime(in: timeZone) }
        let document = profile.document
        guard document.count <= ImportProfile.byteLimit else {
            throw .tooLarge("the profile has \(document.count) bytes; the maximum is \(ImportProfile.byteLimit)")
        }
        return try await put(importProfile: String(decoding: document, as: UTF8.self), name)
    }
}
