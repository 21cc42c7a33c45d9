package import Ordering

// What holds of lists wherever they are kept.

extension CatalogError {
    package static func goneList(_ id: UniqueID) -> CatalogError {
        .conflict("list “\(id)” was deleted or left; bring it back, or make one with another id")
    }

    package static let tooManyLists = CatalogError.unprocessable(
        field: "lists",
        detail: "a user has at most \(UserList.countLimit) lists; delete some that are not needed any more"
    )
    package static let tooManyDeletedLists = CatalogError.unprocessable(
        field: "lists",
        detail: "too many lists were deleted lately; \(UserList.tombstoneDays) days after that they are forgotten"
    )
    package static let tooManyShares = CatalogError.unprocessable(
        field: "shares",
        detail: "a list has at most \(ListShare.countLimit) shares; take back some that are not needed any more"
    )
    package static let tooManyMembers = CatalogError.unprocessable(
        field: "shares",
        detail: "at most \(ListShare.memberLimit) users join a list"
    )
}

extension ListRole {
    /// Whether it lets somebody do more than a role that they have already; nil for none.
    package func isBetter(than own: ListRole?) -> Bool { own == nil || (own == .reader && mayEdit) }
}

extension NewList {
    /// The list that is made.
    ///
    /// - Parameter sinksChecked: the user's setting of that name.
    package func list(of user: UserID, sinksChecked: JSONValue?, now: Timestamp) -> UserList {
        UserList(
            id: id,
            owner: user,
            name: name,
            autoSort: autoSort ?? (sinksChecked != .bool(false)),
            sort: sort,
            createdAt: now,
            modifiedAt: now
        )
    }
}

extension ListSort {
    /// What a user's setting says; the latest first where there is none.
    package init(setting: JSONValue?) {
        if case .string(let text)? = setting, let sort = ListSort(rawValue: text) {
            self = sort
        } else {
            self = .lastModified
        }
    }
}

extension HeldList {
    /// Whether one may make a change.
    ///
    /// - Throws: `notFound` for a list that is gone, unless it is brought back; `forbidden`; `staleList`.
    package func check(_ edit: ListEdit, _ expected: Set<Int64>?) throws(CatalogError) {
        guard leftAt == nil, !list.isDeleted || edit.bringsBack else { throw .notFound("list “\(list.id)”") }
        guard role.mayEdit else {
            throw .forbidden("this list was shared with you to read; its owner may let you edit it")
        }
        if case .set(let settings) = edit, settings.isDeleted != nil { try checkOwner() }
        try checkVersion(expected)
    }

    package func checkVersion(_ expected: Set<Int64>?) throws(CatalogError) {
        if let expected, !expected.contains(list.version) { throw .staleList(current: list.version) }
    }

    package func checkOwner() throws(CatalogError) {
        guard role == .owner else { throw .forbidden("only the owner of the list may do that") }
    }
}

extension ListEdit {
    /// Whether it brings a deleted list back.
    package var bringsBack: Bool { if case .set(let settings) = self { settings.isDeleted == false } else { false } }

    /// The items that are to be there from now on.
    package var added: Set<UniqueID> { if case .add(let items) = self { Set(items.map(\.id)) } else { [] } }

    /// Items that it was to change, and that are not there any more.
    package func missing(in list: UserList) -> [UniqueID] {
        let known = Set(list.items.map(\.id))
        return items.filter { !known.contains($0) }
    }

    /// The items that it changes.
    package var items: [UniqueID] { if case .change(let changes) = self { changes.map(\.id) } else { [] } }

    /// The products that it names.
    package var products: [ProductReference] {
        if case .add(let items) = self { items.compactMap(\.product) } else { [] }
    }
}

extension PathKey {
    /// The first key of an order.
    package static var first: PathKey { appending(1, after: nil)[0] }
}

extension PositionList {
    /// A key of more bytes has a short list numbered anew.
    private static let longKey = 64

    /// Makes moves, one after the other. There are few rows: where a key grows long, all get new ones.
    ///
    /// - Returns: the last new key of each row that has one.
    /// - Throws: as `OrderEdit.check` and `OrderMove.apply`.
    package mutating func renumber(by moves: [OrderMove]) throws(CatalogError) -> [(id: String, key: PathKey)] {
        try OrderEdit.moves(moves).check()
        try OrderEdit.checkWork(moves: moves.count, of: rows.count)
        var keys: [String: PathKey] = [:]
        for move in moves { for (id, key) in try apply(move) { keys[id] = key } }
        guard keys.values.contains(where: { $0.length > Self.longKey }) else {
            return rows.compactMap { row in keys[row.id].map { (row.id, $0) } }
        }
        let fresh = zip(rows, PathKey.appending(rows.count, after: nil))
        self = PositionList(fresh.map { Row(id: $0.id, key: $1, isRemoved: $0.isRemoved) })
        return rows.map { ($0.id, $0.key) }
    }
}

extension ListsMoved {
    /// The least lists that moved from one order to another.
    package static func between(_ old: [String], _ new: [String]) -> [OrderEditOutcome.Moved] {
        let moves = MoveDiff(from: old, to: new).moves
        return OrderEditOutcome.Moved.of(moves.map { new[Int($0.to)] }, from: old, to: new)
    }
}

extension [OrderMove] {
    /// The same, of ids that are UUIDs in any case of their letters.
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
