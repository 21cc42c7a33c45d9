internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// The caller's settings. Requests never name a user.
struct SettingEndpoints: EndpointGroup {
    let settings: any SettingsStore
    let attributes: any AttributeStore

    var endpoints: [Endpoint] {
        let setting = "/v1/me/settings/{key}"
        return [
            Endpoint(.get, "/v1/me/settings", .user, .listSettings, cost: 2, list),
            Endpoint(.put, "/v1/me/settings", .user, .putSettings, cost: 10, putMany),
            Endpoint(.get, setting, .user, .getSetting, read),
            Endpoint(.put, setting, .user, .putSetting, cost: 3, put),
            Endpoint(.delete, setting, .user, .deleteSetting, cost: 3, delete),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        let since = try call.target.revision("since")
        let page = try await settings.settings(of: call.user, since: since, limit: nil)
        // The revision changes with every setting; the suffix identifies the subset in the response.
        let tag = "\"\(page.revision)-\(since.map { "\($0)" } ?? "all")\(page.isResync ? "-resync" : "")\""
        let headers: HTTPFields = [.vary: "Authorization"]
        return call.tagged(tag, cache: "private, no-cache", headers: headers, page.json)
    }

    private func putMany(_ call: Call) async throws -> Response {
        let edit = try SettingsEdit(body: try await call.json())
        let results = try await settings.edit(edit, of: call.user)
        return .json(results.json, cache: "no-store")
    }

    private func read(_ call: Call) async throws -> Response {
        let setting = try await settings.setting(try Self.key(call), of: call.user)
        return call.setting(setting.json, revision: setting.revision)
    }

    private func put(_ call: Call) async throws -> Response {
        let key = try Self.key(call)
        let write = try SettingsEdit.Write(key, body: try await call.json())
        try await attributes.check(write.value, for: key)
        let edit = SettingsEdit([write], expecting: try call.settingExpectation)
        let result = try await settings.editOne(edit, of: call.user)
        return call.setting(result.setting.json, revision: result.setting.revision)
    }

    private func delete(_ call: Call) async throws -> Response {
        return try await settings.delete(Self.key(call), call)
    }

    private static func key(_ call: Call) throws(CatalogError) -> SettingKey {
        guard let key = SettingKey(call.parameters.settingName) else {
            throw .malformed(parameter: "key", detail: "key must be \(SettingKey.rule)")
        }
        return key
    }
}

extension SettingsStore {
    /// Applies an edit of one setting.
    func editOne(_ edit: SettingsEdit, of user: UserID) async throws(CatalogError) -> SettingsEdit.Result {
        guard let result = try await self.edit(edit, of: user).first else {
            throw .fault("an edit of one setting has no result")
        }
        return result
    }

    /// Deletes a setting.
    func delete(_ key: SettingKey, _ call: Call) async throws -> Response {
        let edit = SettingsEdit([.init(key, nil)], expecting: try call.settingExpectation)
        guard try await editOne(edit, of: call.user).isApplied else { throw CatalogError.notFound("setting “\(key)”") }
        return .noContent
    }
}

extension Call {
    /// The expectation of `If-Match` or `If-None-Match`.
    ///
    /// - Throws: `malformed` for a tag of another kind, and for an `If-None-Match` other than `*`.
    var settingExpectation: SettingsEdit.Expectation {
        get throws(CatalogError) {
            switch try expectation("a setting, such as \"1187\"", { Int64($0) }) {
            case .any: return .present
            case .versions(let revisions): return .revision(revisions)
            case nil: break
            }
            guard let header = header(.ifNoneMatch) else { return .unconditional }
            guard header.trimmed == "*" else {
                throw .malformed(
                    parameter: "If-None-Match",
                    detail: "If-None-Match must be *, which writes the setting only if it does not exist"
                )
            }
            return .absent
        }
    }

    /// Returns a response with a setting; its tag is the revision.
    func setting(_ bytes: [UInt8], revision: Int64) -> Response {
        let tag = "\"\(revision)\""
        let headers: HTTPFields = [.vary: "Authorization"]
        if request.method == .put { return .json(bytes, tag: tag, cache: "private, no-cache", headers: headers) }
        return tagged(tag, cache: "private, no-cache", headers: headers, bytes)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listSettings = Operation(
        "listSettings",
        .settings,
        "List the settings of the user",
        """
        Returns all settings of the user; with `since`, those that changed after a revision, \
        including deletion markers.
        """,
        parameters: [.since],
        [200: .tagged("The settings.", "SettingsPage")]
    )

    fileprivate static let putSettings = Operation(
        "putSettings",
        .settings,
        "Change several settings",
        """
        Applies changes that a device made offline, all or none. Of two changes to one setting, \
        the one with the later `modified_at` wins; in a tie, the stored one.
        """,
        body: .json("SettingChanges"),
        [200: .json("The current settings, in the order of the request.", "SettingResults")]
    )

    fileprivate static let getSetting = Operation(
        "getSetting",
        .settings,
        "Get a setting",
        "Returns a setting of the user.",
        [200: .tagged("The setting.", "Setting"), 404: .component("NotFound")]
    )

    fileprivate static let putSetting = Operation(
        "putSetting",
        .settings,
        "Set a setting",
        "Creates or replaces a setting of the user.",
        parameters: [.settingIfMatch, .settingIfNoneMatch],
        body: .json("SettingInput"),
        [200: .tagged("The setting.", "Setting"), 400: .component("BadSortRequest")]
    )

    fileprivate static let deleteSetting = Operation(
        "deleteSetting",
        .settings,
        "Delete a setting",
        "Deletes a setting of the user. A deletion marker is kept for 90 days.",
        parameters: [.settingIfMatch],
        [204: .noContent, 404: .component("NotFound")]
    )
}
