package import JSON
package import Catalog

// Lists in the API's format.

extension ListMembership {
    package func write(items: Int? = nil, checked: Int? = nil, to json: inout JSONWriter) {
        json.object { json in
            json.field("id", list.id.text)
            if leftAt != nil {
                // Former members do not see later changes.
                json.field("revision", revision)
                return json.field("deleted", true)
            }
            json.field("name", list.name)
            json.field("role", role.rawValue)
            json.field("auto_sort", list.autoSort)
            json.field("sort", list.sort.rawValue)
            json.field("item_count", items ?? list.currentItems.count)
            json.field("checked_count", checked ?? list.currentItems.count(where: \.isChecked))
            json.field("version", list.version)
            json.field("revision", revision)
            json.field("created_at", list.createdAt.rfc3339)
            json.field("modified_at", list.modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
        }
    }

    package var json: [UInt8] {
        var json = JSONWriter()
        write(to: &json)
        return json.bytes
    }
}

extension ListMembership {
    /// Returns the list with its items in display order.
    ///
    /// - Parameters:
    ///   - sort: nil for the list's own.
    ///   - since: the version after which items changed, deleted ones included; nil for all current items.
    package func json(
        _ facts: ListFacts,
        by sort: ListItemSort?,
        since: Int64?,
        day: Int = Timestamp.now().day
    ) -> [UInt8] {
        let shown = list.shown(facts, by: sort)
        // A version that the list never had requires a full resync.
        let isResync = since.map { $0 > list.version } ?? false
        let known = isResync ? nil : since
        let items =
            known.map { version in list.items.filter { $0.version > version }.sorted { $0.key < $1.key } } ?? shown
        var json = JSONWriter(reserving: 900 * (items.count + 1))
        json.object { json in
            json.key("list")
            write(to: &json)
            json.field("sort", (sort ?? list.sort).rawValue)
            json.array("items", items) { $1.write(facts, withProduct: true, day: day, to: &$0) }
            if since != nil { json.array("order", shown) { $0.string($1.id.text) } }
            json.field("version", list.version)
            if isResync { json.field("resync", true) }
        }
        return json.bytes
    }
}

extension ListMembership {
    /// Returns the list as a document for its user.
    package func document(isNew: Bool) -> ListDocument { ListDocument(json: json, isNew: isNew) }
}
