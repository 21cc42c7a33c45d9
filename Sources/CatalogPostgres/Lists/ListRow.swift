internal import JSON
internal import Catalog
internal import LibPQ
internal import Ordering

/// The mapping between lists, items and database rows.
enum ListRow {
    /// The number of list columns.
    static let listColumnCount = 9

    /// A user's place in a list.
    struct Place: Sendable {
        let list: UniqueID
        let owner: String
        let role: ListRole
        let key: PathKey
        let revision: Int64
        /// When the user left the list; nil for a member.
        let leftAt: Timestamp?

        /// Reads the columns from `start`.
        init(_ row: borrowing PostgresRow, from start: Int = 0) throws {
            guard let list = UniqueID(try row.text(start)), let role = ListRole(rawValue: try row.text(start + 2))
            else {
                throw invalidRow
            }
            (self.list, self.role) = (list, role)
            owner = try row.text(start + 1)
            key = try PathKey(bytes: try row.bytea(start + 3))
            revision = try row.int8(start + 4)
            leftAt = try moment(row, start + 5)
        }

        /// Returns the membership in the list.
        func membership(_ list: UserList) -> ListMembership {
            ListMembership(list: list, role: role, key: key, revision: revision, leftAt: leftAt)
        }
    }

    static func list(_ row: borrowing PostgresRow, from start: Int = 0) throws -> UserList {
        guard let id = UniqueID(try row.text(start)), let owner = UserID(try row.text(start + 1)),
            let sort = ListItemSort(rawValue: try row.text(start + 4))
        else { throw invalidRow }
        return UserList(
            id: id,
            owner: owner,
            name: try row.text(start + 2),
            autoSort: try row.bool(start + 3),
            sort: sort,
            version: try row.int8(start + 5),
            createdAt: try moment(row, start + 6)!,
            modifiedAt: try moment(row, start + 7)!,
            deletedAt: try moment(row, start + 8)
        )
    }

    static func item(_ row: borrowing PostgresRow) throws -> ListItem {
        guard let id = UniqueID(try row.text(0)), let quantity = ExactDecimal(try row.text(4)) else { throw invalidRow }
        let store = try row.textOrNil(1).flatMap { CatalogKey($0) }
        let changes = try JSONReader.parse(Array(try row.text(12).utf8))
        var moments: [ListItem.Field: Timestamp] = [:]
        for field in ListItem.Field.allCases {
            if case .number(let digits)? = changes[field.rawValue], let microseconds = Int64(digits) {
                moments[field] = Timestamp(microseconds: microseconds)
            }
        }
        return ListItem(
            id: id,
            product: try store.map { ProductReference($0, SKU(stored: try row.text(2))) },
            text: try row.text(3),
            quantity: quantity,
            note: try row.textOrNil(5),
            isChecked: try row.bool(6),
            key: try PathKey(bytes: try row.bytea(7)),
            createdAt: try moment(row, 9)!,
            modifiedAt: try moment(row, 10)!,
            deletedAt: try moment(row, 11),
            version: try row.int8(8),
            changes: moments
        )
    }

    /// Returns a list as parameters of `ListStatements.insert`, or of `update`, which omits the creation time.
    static func parameters(_ list: UserList, isNew: Bool) -> [PostgresValue] {
        let made: [PostgresValue] = isNew ? [.timestamptz(list.createdAt.microseconds)] : []
        return [
            .text(list.owner.text), .text(list.id.text), .text(list.name), .bool(list.autoSort),
            .text(list.sort.rawValue), .int8(list.version),
        ] + made + [.timestamptz(list.modifiedAt.microseconds), .timestamptz(list.deletedAt?.microseconds)]
    }

    /// Returns items as JSON for `ListStatements.writeItems`.
    ///
    /// - Parameter stores: the ids of stores, by key.
    static func json(_ items: [ListItem], _ stores: [CatalogKey: Int32]) -> String {
        func time(_ moment: Timestamp?) -> JSONValue { .integer(moment?.microseconds) }
        return JSONValue.array(
            items.map { item in
                let storeID = item.product.flatMap { stores[$0.store] }
                let changes = ListItem.Field.allCases.compactMap { field in
                    item.changes[field].map { JSONValue.Member(field.rawValue, time($0)) }
                }
                return JSONValue.object([
                    .init("id", .string(item.id.text)),
                    .init("store_id", .integer(storeID)),
                    .init("sku", .text(item.product?.sku.text)), .init("text", .string(item.text)),
                    .init("quantity", .number(item.quantity.description)), .init("note", .text(item.note)),
                    .init("checked", .bool(item.isChecked)), .init("key", .string(item.key.bytes.hexadecimal)),
                    .init("version", .integer(item.version)), .init("created", time(item.createdAt)),
                    .init("modified", time(item.modifiedAt)), .init("deleted", time(item.deletedAt)),
                    .init("changes", .object(changes)),
                ])
            }
        ).text
    }

    static func moment(_ row: borrowing PostgresRow, _ column: Int) throws -> Timestamp? {
        row.isNull(column) ? nil : Timestamp(microseconds: try row.timestamptz(column))
    }

    private static var invalidRow: PostgresError { PostgresError(.decoding, "invalid stored list") }
}
