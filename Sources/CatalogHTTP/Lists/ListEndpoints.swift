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
            Endpoint(.get, "/v1/me/lists", .user, cost: 2, readAll),
            Endpoint(.post, "/v1/me/lists", .user, cost: 3, create),
            Endpoint(.post, "/v1/me/lists/order/moves", .user, cost: 3, moveLists),
            Endpoint(.get, list, .user, cost: 2, read),
            Endpoint(.patch, list, .user, cost: 3) { call in
                try await edit(call) { body throws(CatalogError) in .set(try ListSettings(body: body)) }
            },
            Endpoint(.delete, list, .user, cost: 3, delete),
            Endpoint(.get, list + "/items", .user, cost: 2, readItems),
            Endpoint(.post, list + "/items", .user, cost: 3) { try await edit($0, creates: true, ListEdit.add) },
            Endpoint(.patch, list + "/items", .user, cost: 3) { try await edit($0, ListEdit.change) },
            Endpoint(.get, list + "/items/{item}", .user, cost: 2, readItem),
            Endpoint(.patch, list + "/items/{item}", .user, cost: 3) { call in
                let item = try call.parameters.item
                return try await edit(call) { body throws(CatalogError) in
                    .change([try ListItemChange(item, body: body)])
                }
            },
            Endpoint(.delete, list + "/items/{item}", .user, cost: 3, deleteItem),
            Endpoint(.post, list + "/order/moves", .user, cost: 3) { call in
                try await edit(call) { body throws(CatalogError) in .move(try OrderMove.list(body: body).byUniqueID) }
            },
        ]
    }

    // MARK: - Lists

    private func readAll(_ call: Call) async throws -> Response {
        try call.target.allow("sort", "since")
        let since = try call.target.revision("since")
        let sort: ListSort? = try call.target.choice("sort")
        return call.hashedPrivate(try await lists.lists(of: call.user, by: sort, since: since).json)
    }

    private func create(_ call: Call) async throws -> Response {
        try call.target.allow()
        let (body, once) = try await call.postedJSON()
        let document = try await lists.createList(try NewList(body: body), of: call.user, once: once)
        let head = document.head
        var response = Response.outcome(document.json, status: document.isNew ? .created : .ok, tag: head?.tag)
        // A repeated request gets the id of the first.
        if document.isNew, let head { response.headers[.location] = "/v1/me/lists/\(head.id)" }
        return response
    }

    private func moveLists(_ call: Call) async throws -> Response {
        try call.target.allow()
        let (body, once) = try await call.postedJSON()
        let moves = try OrderMove.list(body: body).byUniqueID
        return .outcome(try await lists.moveLists(moves, of: call.user, once: once).json)
    }

    private func read(_ call: Call) async throws -> Response {
        try call.target.allow()
        let membership = try await lists.list(call.parameters.list, of: call.user, by: nil).0
        let headers: HTTPFields = [.vary: "Authorization"]
        return call.tagged(
            Self.tag(version: membership.list.version, revision: membership.revision),
            cache: "private, no-cache",
            headers: headers,
            membership.json
        )
    }

    /// Returns the entity tag of a list. It starts with the list's version and changes with everything in the response.
    fileprivate static func tag(version: Int64, revision: Int64) -> String { "\"\(version)-\(revision)\"" }

    private func delete(_ call: Call) async throws -> Response {
        try call.target.allow()
        try await lists.removeList(call.parameters.list, of: call.user, expected: try call.expectedListVersions)
        return .noContent
    }

    // MARK: - Items

    private func readItems(_ call: Call) async throws -> Response {
        try call.target.allow("sort", "since")
        let sort: ListItemSort? = try call.target.choice("sort")
        let since = try call.target.revision("since")
        let (held, facts) = try await lists.list(call.parameters.list, of: call.user, by: sort)
        return call.hashedPrivate(held.json(facts, by: sort, since: since))
    }

    private func readItem(_ call: Call) async throws -> Response {
        try call.target.allow()
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
        try call.target.allow()
        let (body, once) = try await call.postedJSON()
        let document = try await lists.editList(
            call.parameters.list,
            of: call.user,
            try read(body),
            expected: try call.expectedListVersions,
            once: once
        )
        return .outcome(document.json, status: creates && document.isNew ? .created : .ok, tag: document.head?.tag)
    }

    private func deleteItem(_ call: Call) async throws -> Response {
        try call.target.allow()
        let item = try call.parameters.item
        let document = try await lists.editList(
            call.parameters.list,
            of: call.user,
            .change([ListItemChange(item, isDeleted: true)]),
            expected: try call.expectedListVersions,
            once: nil
        )
        guard document.isNew else { throw CatalogError.notFound("item “\(item)”") }
        return .outcome(document.json, tag: document.head?.tag)
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

extension ListDocument {
    /// The list's id and entity tag, as in the document: a recorded response has no other form.
    var head: (id: String, tag: String)? {
        guard let document = try? JSONReader.parse(json) else { return nil }
        let list = document["list"] ?? document
        guard case .string(let id)? = list["id"], case .number(let version)? = list["version"],
            case .number(let revision)? = list["revision"], let version = Int64(version), let revision = Int64(revision)
        else { return nil }
        return (id, ListEndpoints.tag(version: version, revision: revision))
    }
}
