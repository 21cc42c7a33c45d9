package import Catalog
package import JSON

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

    package var json: [UInt8] { JSONWriter.document { write(to: &$0) } }
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
        return JSONWriter.object { json in
            json.key("list")
            write(to: &json)
            json.field("sort", (sort ?? list.sort).rawValue)
            json.array("items", items) { $1.write(facts, withProduct: true, day: day, to: &$0) }
            if since != nil { json.array("order", shown) { $0.string($1.id.text) } }
            json.field("version", list.version)
            if isResync { json.field("resync", true) }
        }
    }
}

extension ListsPage {
    package var json: [UInt8] {
        JSONWriter.object { json in
            json.array("lists", entries) { json, entry in
                entry.membership.write(items: entry.items, checked: entry.checked, to: &json)
            }
            if let sort { json.field("sort", sort.rawValue) }
            if let order { json.array("order", order) { $0.string($1.text) } }
            json.field("revision", revision)
            if isResync { json.field("resync", true) }
        }
    }
}

extension UserList {
    /// The event for a list that devices do not have yet: they read the list when they receive it.
    var announcement: [UInt8] {
        JSONWriter.object { json in
            writeHead(to: &json)
            json.field("version", version)
            json.field("resync", true)
        }
    }

    func writeHead(to json: inout JSONWriter) {
        json.object("list") { json in
            json.field("id", id.text)
            json.field("name", name)
            json.field("auto_sort", autoSort)
            json.field("sort", sort.rawValue)
            json.field("version", version)
            json.field("modified_at", modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
        }
    }
}

extension ListItem {
    package func json(_ facts: ListFacts) -> [UInt8] {
        JSONWriter.document { write(facts, withProduct: true, day: Timestamp.now().day, to: &$0) }
    }

    func write(_ facts: ListFacts, withProduct: Bool, day: Int, to json: inout JSONWriter) {
        let known = product.flatMap { facts.products[$0] }
        json.object { json in
            json.field("id", id.text)
            json.field("store", product?.store.text)
            json.field("sku", product?.sku.text)
            json.field("name", facts.name(of: self))
            json.field("text", text)
            json.field("quantity", quantity.description)
            json.field("note", note)
            json.field("checked", isChecked)
            json.field("version", version)
            json.field("created_at", createdAt.rfc3339)
            json.field("modified_at", modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
            guard withProduct else { return }
            if let known {
                json.key("product")
                ProductPresentation(store: known.store, day: day).write(known.product, to: &json)
            } else {
                json.field("product", json: "null")
            }
        }
    }
}
