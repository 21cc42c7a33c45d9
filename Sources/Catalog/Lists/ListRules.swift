package import JSON
package import Ordering

// Rules for lists that every store shares.

extension CatalogError {
    package static func deletedList(_ id: UniqueID) -> CatalogError {
        .conflict("list “\(id)” was deleted or left; restore it, or create a list with a different id")
    }

    package static func ambiguousList(_ id: UniqueID) -> CatalogError {
        .conflict("you have another list with the id “\(id)”; delete or leave it before you join this one")
    }

    package static let tooManyLists = CatalogError.unprocessable(
        field: "lists",
        detail: "a user can have at most \(UserList.countLimit) lists; delete lists that are no longer needed"
    )
    package static let tooManyDeletedLists = CatalogError.unprocessable(
        field: "lists",
        detail: "too many recently deleted lists; they are purged after \(UserList.tombstoneDays) days"
    )
    package static let tooManyItems = CatalogError.unprocessable(
        field: "items",
        detail:
            "a user's lists can have at most \(UserList.allItemsLimit) items in total; delete some lists"
    )
    package static let tooManyShares = CatalogError.unprocessable(
        field: "shares",
        detail: "a list can have at most \(ListShare.countLimit) shares; revoke shares that are no longer needed"
    )
    package static let tooManyMembers = CatalogError.unprocessable(
        field: "shares",
        detail: "a list can have at most \(ListShare.memberLimit) members"
    )
}

extension ListRole {
    /// Whether the role permits more than a user's current role; nil for none.
    package func isBetter(than own: ListRole?) -> Bool { own == nil || (own == .reader && mayEdit) }
}

extension NewList {
    /// Returns the list to create.
    ///
    /// - Parameter sinksChecked: the user's setting `lists.sink_checked`.
    package func list(of user: UserID, sinksChecked: JSONValue?, now: Timestamp) -> UserList {
        UserList(
            id: id,
            owner: user,
            name: name,
            autoSort: autoSort ?? (sinksChecked != .bool(false)),
            sort: sort,
            version: now.microseconds,
            createdAt: now,
            modifiedAt: now
        )
    }
}

extension ListSort {
    /// Reads a user's setting; defaults to the latest first.
    package init(setting: JSONValue?) {
        if case .string(let text)? = setting, let sort = ListSort(rawValue: text) {
            self = sort
        } else {
            self = .lastModified
        }
    }
}

extension ListMembership {
    /// Checks that the user may make a change.
    ///
    /// - Throws: `notFound` for a deleted list, unless the edit restores it; `forbidden`; `staleList`.
    package func check(_ edit: ListEdit, _ expected: Set<Int64>?) throws(CatalogError) {
        guard leftAt == nil, !list.isDeleted || edit.restoresList else { throw .notFound("list “\(list.id)”") }
        guard role.mayEdit else {
            throw .forbidden("you have read-only access to this list; ask its owner for the editor role")
        }
        if case .set(let settings) = edit, settings.isDeleted != nil { try checkOwner() }
        try checkVersion(expected)
    }

    /// - Throws: `staleList` if the list's version is not among the expected ones; nil accepts any.
    package func checkVersion(_ expected: Set<Int64>?) throws(CatalogError) {
        if let expected, !expected.contains(list.version) { throw .staleList(current: list.version) }
    }

    /// - Throws: `forbidden` if the user is not the list's owner.
    package func checkOwner() throws(CatalogError) {
        guard role == .owner else { throw .forbidden("only the owner of the list can do this") }
    }
}

extension ListEdit {
    /// Whether the edit restores a deleted list.
    package var restoresList: Bool { if case .set(let settings) = self { settings.isDeleted == false } else { false } }

    /// The ids of added items.
    package var added: Set<UniqueID> { if case .add(let items) = self { Set(items.map(\.id)) } else { [] } }

    /// Returns the items that the edit names and that no longer exist.
    package func missing(in list: UserList) -> [UniqueID] {
        let known = Set(list.items.map(\.id))
        return items.filter { !known.contains($0) }
    }

    /// The items that the edit changes.
    package var items: [UniqueID] { if case .change(let changes) = self { changes.map(\.id) } else { [] } }

    /// The products that the edit names.
    package var products: [ProductReference] {
        if case .add(let items) = self { items.compactMap(\.product) } else { [] }
    }
}

extension PathKey {
    /// The first key of an order.
    package static var first: PathKey { appending(1, after: nil)[0] }
}

extension PositionList {
    /// Applies moves in sequence. The list is short: if a key grows too long, all rows get new keys.
    ///
    /// - Returns: the final key of each row that got a new one.
    /// - Throws: as `ManualOrderEdit.check` and `OrderMove.apply`.
    package mutating func renumber(by moves: [OrderMove]) throws(CatalogError) -> [(id: String, key: PathKey)] {
        try ManualOrderEdit.moves(moves).check()
        try ManualOrderEdit.checkWork(moves: moves.count, of: rows.count)
        var keys: [String: PathKey] = [:]
        for move in moves { for (id, key) in try apply(move) { keys[id] = key } }
        guard keys.values.contains(where: \.isLong) else {
            return rows.compactMap { row in keys[row.id].map { (row.id, $0) } }
        }
        let fresh = zip(rows, PathKey.appending(rows.count, after: nil))
        self = PositionList(fresh.map { Row(id: $0.id, key: $1, isRemoved: $0.isRemoved) })
        return rows.map { ($0.id, $0.key) }
    }
}

extension ListMoveOutcome {
    /// Returns the minimal set of lists that moved between two orders.
    package static func between(_ old: [String], _ new: [String]) -> [ManualOrderOutcome.Moved] {
        let moves = MoveDiff(from: old, to: new).moves
        return ManualOrderOutcome.Moved.of(moves.map { new[Int($0.to)] }, from: old, to: new)
    }
}

extension [OrderMove] {
    /// The moves with all UUIDs in lower case.
    package var byUniqueID: [OrderMove] {
        func id(_ text: String) -> String { UniqueID(text)?.text ?? text }
        return map { move in
            let target: OrderMove.Target =
                switch move.target {
                case .after(let anchor): .after(id(anchor))
                case .before(let anchor): .before(id(anchor))
                default: move.target
                }
            return OrderMove(move.ids.map(id), target)
        }
    }
}
