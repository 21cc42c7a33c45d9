internal import JSON
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// A user's own and joined lists.
struct ListEndpoints: EndpointGroup {
    let lists: any ListStore

    var endpoints: [Endpoint] {
        let list = "/v1/me/lists/{list}"
        return [
            Endpoint(.get, "/v1/me/lists", .user, .listLists, cost: 2, readAll),
            Endpoint(.post, "/v1/me/lists", .user, .createList, cost: 3, create),
            Endpoint(.post, "/v1/me/lists/order/moves", .user, .moveLists, cost: 3, moveLists),
            Endpoint(.get, list, .user, .getList, cost: 2, read),
            Endpoint(.patch, list, .user, .patchList, cost: 3) { call in
                try await edit(call) { body throws(CatalogError) in .set(try ListSettings(body: body)) }
            },
            Endpoint(.delete, list, .user, .deleteList, cost: 3, delete),
            Endpoint(.get, list + "/items", .user, .getListItems, cost: 2, readItems),
            Endpoint(.post, list + "/items", .user, .addListItems, cost: 3) {
                try await edit($0, creates: true, ListEdit.add)
            },
            Endpoint(.patch, list + "/items", .user, .patchListItems, cost: 3) { try await edit($0, ListEdit.change) },
            Endpoint(.get, list + "/items/{item}", .user, .getListItem, cost: 2, readItem),
            Endpoint(.patch, list + "/items/{item}", .user, .patchListItem, cost: 3) { call in
                let item = try call.parameters.item
                return try await edit(call) { body throws(CatalogError) in
                    .change([try ListItemChange(item, body: body)])
                }
            },
            Endpoint(.delete, list + "/items/{item}", .user, .deleteListItem, cost: 3, deleteItem),
            Endpoint(.post, list + "/order/moves", .user, .moveListItems, cost: 3) { call in
                try await edit(call) { body throws(CatalogError) in .move(try OrderMove.list(body: body).byUniqueID) }
            },
        ]
    }

    // MARK: - Lists

    private func readAll(_ call: Call) async throws -> Response {
        let since = try call.target.revision("since")
        let sort: ListSort? = try call.target.choice("sort")
        return call.hashedPrivate(try await lists.lists(of: call.user, by: sort, since: since).json)
    }

    private func create(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: ListDocument.self)
        let document = try await lists.createList(try NewList(body: body), of: call.user, once: once)
        let (list, head) = (document.recorded, document.head)
        var response = Response.outcome(list.body, status: list.isNew ? .created : .ok, tag: head?.tag)
        // A repeated request gets the id of the first.
        if list.isNew, let head { response.headers[.location] = "/v1/me/lists/\(head.id)" }
        return response
    }

    private func moveLists(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: ListMoveOutcome.self)
        let moves = try OrderMove.list(body: body).byUniqueID
        return .outcome(try await lists.moveLists(moves, of: call.user, once: once).json)
    }

    private func read(_ call: Call) async throws -> Response {
        let membership = try await lists.list(call.parameters.list, of: call.user, by: nil).0
        let headers: HTTPFields = [.vary: "Authorization"]
        return call.tagged(
            membership.head.tag,
            cache: "private, no-cache",
            headers: headers,
            membership.json
        )
    }

    private func delete(_ call: Call) async throws -> Response {
        try await lists.removeList(call.parameters.list, of: call.user, expected: try call.expectedListVersions)
        return .noContent
    }

    // MARK: - Items

    private func readItems(_ call: Call) async throws -> Response {
        let sort: ListItemSort? = try call.target.choice("sort")
        let since = try call.target.revision("since")
        let (held, facts) = try await lists.list(call.parameters.list, of: call.user, by: sort)
        return call.hashedPrivate(held.json(facts, by: sort, since: since))
    }

    private func readItem(_ call: Call) async throws -> Response {
        let id = try call.parameters.item
        let (held, facts) = try await lists.list(call.parameters.list, of: call.user, by: nil)
        guard let item = held.list.currentItems.first(where: { $0.id == id }) else {
            throw CatalogError.notFound("item “\(id)”")
        }
        return call.hashedPrivate(item.json(facts))
    }

    /// - Parameter creates: whether new items return 201; existing items return 200.
    private func edit(
        _ call: Call,
        creates: Bool = false,
        _ read: (JSONValue) throws(CatalogError) -> ListEdit
    ) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: ListDocument.self)
        let document = try await lists.editList(
            call.parameters.list,
            of: call.user,
            try read(body),
            expected: try call.expectedListVersions,
            once: once
        )
        let response = document.recorded
        let status: HTTPResponse.Status = creates && response.isNew ? .created : .ok
        return .outcome(response.body, status: status, tag: document.head?.tag)
    }

    private func deleteItem(_ call: Call) async throws -> Response {
        let item = try call.parameters.item
        let document = try await lists.editList(
            call.parameters.list,
            of: call.user,
            .change([ListItemChange(item, isDeleted: true)]),
            expected: try call.expectedListVersions,
            once: nil
        )
        let response = document.recorded
        guard response.isNew else { throw CatalogError.notFound("item “\(item)”") }
        return .outcome(response.body, tag: document.head?.tag)
    }
}

extension Call {
    /// The list versions that `If-Match` accepts; nil for any.
    ///
    /// - Throws: `malformed` for a tag of another kind.
    fileprivate var expectedListVersions: Set<Int64>? {
        get throws(CatalogError) {
            try expectation("a list, such as \"3-1191\"") { tag in
                // The user's revision, behind the version, may change without the list.
                let numbers = tag.split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
                guard (1...2).contains(numbers.count), numbers.allSatisfy({ $0 != nil }) else { return nil }
                return numbers[0]
            }?.versions
        }
    }
}

/// The id and the entity tag of a list.
struct ListHead {
    let id: String
    /// Starts with the list's version, and changes with everything in the response.
    let tag: String

    init(_ id: String, version: Int64, revision: Int64) { (self.id, tag) = (id, "\"\(version)-\(revision)\"") }

    /// Reads the head in a recorded response.
    init?(_ response: RecordedResponse) {
        guard let document = try? JSONReader.parse(response.body) else { return nil }
        let list = document["list"] ?? document
        guard case .string(let id)? = list["id"], case .number(let version)? = list["version"],
            case .number(let revision)? = list["revision"], let version = Int64(version), let revision = Int64(revision)
        else { return nil }
        self.init(id, version: version, revision: revision)
    }
}

extension ListMembership {
    fileprivate var head: ListHead { ListHead(list.id.text, version: list.version, revision: revision) }
}

extension ListDocument {
    /// The head of the list in the response; nil only for an invalid record.
    var head: ListHead? {
        switch self {
        case .list(let membership, _): membership.head
        case .change(let outcome): outcome.membership.head
        case .first(let response): ListHead(response)
        }
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listLists = Operation(
        "listLists",
        .lists,
        "List the user's lists",
        "Returns the user's own and joined lists; with `since`, those that changed after a revision.",
        parameters: [.listSort, .since],
        [200: .tagged("The lists.", "ListPage")]
    )

    fileprivate static let createList = Operation(
        "createList",
        .lists,
        "Create a list",
        "Creates a list.",
        parameters: [.idempotencyKey],
        body: .json("ListInput"),
        [200: .tagged("The list already existed.", "List"), 201: .created("The list was created.", "List")]
    )

    fileprivate static let moveLists = Operation(
        "moveLists",
        .lists,
        "Move lists in the user's order",
        "Moves lists in the user's manual order. All moves apply, or none.",
        parameters: [.idempotencyKey],
        body: .json("ManualMoves"),
        [200: .json("The lists were moved.", "ListOrderEdit")]
    )

    fileprivate static let getList = Operation(
        "getList",
        .lists,
        "Get a list",
        "Returns a list without its items.",
        [200: .tagged("The list.", "List")]
    )

    fileprivate static let patchList = Operation(
        "patchList",
        .lists,
        "Change a list",
        """
        Changes a list (RFC 7396), or restores a deleted one. The media type `application/json` \
        is accepted, too.
        """,
        parameters: [.listIfMatch],
        body: .mergePatch("ListPatch"),
        [200: .tagged("The list was changed.", "ListEdit"), 403: .component("ListForbidden")]
    )

    fileprivate static let deleteList = Operation(
        "deleteList",
        .lists,
        "Delete or leave a list",
        "Deletes the user's own list, or leaves a joined one.",
        parameters: [.listIfMatch],
        [204: .noContent, 403: .component("ListForbidden")]
    )

    fileprivate static let getListItems = Operation(
        "getListItems",
        .listItems,
        "Get the items of a list",
        "Returns the items of a list in its sort; with `since`, those that changed after a version.",
        parameters: [.itemSort, .listSince],
        [200: .tagged("The items.", "ListItems")]
    )

    fileprivate static let addListItems = Operation(
        "addListItems",
        .listItems,
        "Add items to a list",
        "Adds an item, or up to 100 items, all or none.",
        parameters: [.listIfMatch, .idempotencyKey],
        body: .json("NewListItems"),
        [
            200: .tagged("The items already existed.", "ListEdit"), 201: .tagged("The items were added.", "ListEdit"),
            403: .component("ListForbidden"),
        ]
    )

    fileprivate static let patchListItems = Operation(
        "patchListItems",
        .listItems,
        "Change several items",
        """
        Changes up to 100 items (RFC 7396), all or none. The media type `application/json` is \
        accepted, too.
        """,
        parameters: [.listIfMatch],
        body: .mergePatch("ListItemChanges"),
        [200: .tagged("The items were changed.", "ListEdit"), 403: .component("ListForbidden")]
    )

    fileprivate static let getListItem = Operation(
        "getListItem",
        .listItems,
        "Get an item",
        "Returns an item of a list.",
        [200: .tagged("The item.", "ListItem")]
    )

    fileprivate static let patchListItem = Operation(
        "patchListItem",
        .listItems,
        "Change an item",
        """
        Changes an item (RFC 7396): checks it off, edits it, or restores a deleted one. The media \
        type `application/json` is accepted, too.
        """,
        parameters: [.listIfMatch],
        body: .mergePatch("ListItemPatch"),
        [200: .tagged("The item was changed.", "ListEdit"), 403: .component("ListForbidden")]
    )

    fileprivate static let deleteListItem = Operation(
        "deleteListItem",
        .listItems,
        "Delete an item",
        "Deletes an item of a list.",
        parameters: [.listIfMatch],
        [200: .tagged("The item was deleted.", "ListEdit"), 403: .component("ListForbidden")]
    )

    fileprivate static let moveListItems = Operation(
        "moveListItems",
        .listItems,
        "Move items in the manual order",
        "Moves items in the manual order of the list. All moves apply, or none.",
        parameters: [.listIfMatch, .idempotencyKey],
        body: .json("ManualMoves"),
        [200: .tagged("The items were moved.", "ListEdit"), 403: .component("ListForbidden")]
    )
}
