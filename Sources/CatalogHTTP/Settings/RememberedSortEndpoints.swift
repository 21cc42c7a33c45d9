internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// A user's remembered sort for a shelf.
struct RememberedSortEndpoints: EndpointGroup {
    let settings: any SettingsStore
    let pages: any PageStore
    let attributes: any AttributeStore
    let cursors: CursorCodec

    var endpoints: [Endpoint] {
        let sort = "/v1/me/stores/{store}/shelves/{shelf}/sort"
        return [
            Endpoint(.get, sort, .user, .getRememberedSort, read),
            Endpoint(.put, sort, .user, .rememberSort, cost: 5, put),
            Endpoint(.delete, sort, .user, .forgetSort, cost: 3, delete),
        ]
    }

    private static func key(_ call: Call) throws(CatalogError) -> SettingKey {
        .sort(of: try call.parameters.shelf, in: try call.parameters.store)
    }

    private func read(_ call: Call) async throws -> Response {
        let setting = try await settings.setting(try Self.key(call), of: call.user)
        return call.setting(setting.sortJSON(), revision: setting.revision)
    }

    /// Works for shelves that no longer exist, too.
    private func delete(_ call: Call) async throws -> Response {
        return try await settings.delete(Self.key(call), call)
    }

    private func put(_ call: Call) async throws -> Response {
        let request = try RememberedSortEdit(body: try await call.json())
        let (store, shelf, user) = (try call.parameters.store, try call.parameters.shelf, try call.user)
        let storeSort =
            request.transitionLimit == nil ? nil : try await settings.rememberedSorts(user, store, shelf).store
        let known = request.namesAttributes ? try await attributes.resolved(of: store) : .none
        let rememberedSort = try request.rememberedSort(in: known)
        let key = try Self.key(call)
        try Setting.check(
            rememberedSort.value,
            for: key,
            field: rememberedSort.filter.isEmpty ? "sort" : "filter"
        )
        var edit = SettingsEdit([.init(key, rememberedSort.value)], expecting: try call.settingExpectation)
        edit.shelf = ShelfAddress(store, shelf)
        // The transition starts from the sort in effect at the write, not at the request.
        edit.needsPrevious = request.transitionLimit != nil
        let result = try await settings.editOne(edit, of: user)
        var transition: [UInt8]?
        if let limit = request.transitionLimit {
            let change = DiffRequest(
                store: store,
                shelf: shelf,
                from: RememberedSorts(shelf: result.previous?.rememberedSort, store: storeSort),
                to: RememberedSorts(shelf: rememberedSort, store: storeSort),
                limit: limit
            )
            // The sort is saved; if the transition fails, the client reads the page.
            transition = try? await pages.diff(change).json(cursors: cursors)
        }
        return call.setting(result.setting.sortJSON(transition: transition), revision: result.setting.revision)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let getRememberedSort = Operation(
        "getRememberedSort",
        .rememberedSorts,
        "Get the remembered sort of a shelf",
        "Returns the user's remembered sort of a shelf.",
        [200: .tagged("The remembered sort.", "RememberedSort")]
    )

    fileprivate static let rememberSort = Operation(
        "rememberSort",
        .rememberedSorts,
        "Remember a sort for a shelf",
        """
        Remembers a sort for a shelf, with a filter and whether groups are collapsed, on all devices of the user. With `transition_limit`, \
        `transition` is the diff from the sort that applied before, and has `next_cursor`. The sort is stored first; if \
        the diff cannot be computed, `transition` is omitted, and the client must read the page.
        """,
        parameters: [.settingIfMatch, .settingIfNoneMatch],
        body: .json("RememberedSortInput"),
        [200: .tagged("The sort is remembered.", "RememberedSort"), 400: .component("BadSortRequest")]
    )

    fileprivate static let forgetSort = Operation(
        "forgetSort",
        .rememberedSorts,
        "Forget the remembered sort of a shelf",
        "Forgets the sort, so that the default applies again. This works for deleted shelves, too.",
        parameters: [.settingIfMatch],
        [204: .noContent]
    )
}
