// Lists as the API answers them.

extension HeldList {
    package func write(items: Int? = nil, checked: Int? = nil, to json: inout JSONText) {
        json.object { json in
            json.field("id", list.id.text)
            if leftAt != nil {
                // What became of it since is nobody's business who has left.
                json.field("revision", revision)
                return json.field("deleted", true)
            }
            json.field("name", list.name)
            json.field("role", role.rawValue)
            json.field("auto_sort", list.autoSort)
            json.field("sort", list.sort.rawValue)
            json.field("item_count", items ?? list.standing.count)
            json.field("checked_count", checked ?? list.standing.count(where: \.isChecked))
            json.field("version", list.version)
            json.field("revision", revision)
            json.field("created_at", list.createdAt.rfc3339)
            json.field("modified_at", list.modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        write(to: &json)
        return json.bytes
    }
}

extension ListsPage {
    package var json: [UInt8] {
        var json = JSONText(reserving: 300 * (entries.count + 1))
        json.object { json in
            json.array("lists", entries) { json, entry in
                entry.held.write(items: entry.items, checked: entry.checked, to: &json)
            }
            if let sort { json.field("sort", sort.rawValue) }
            if let order { json.array("order", order) { $0.string($1.text) } }
            json.field("revision", revision)
            if isResync { json.field("resync", true) }
        }
        return json.bytes
    }
}

extension ListItem {
    package func json(_ facts: ListFacts) -> [UInt8] {
        var json = JSONText()
        write(facts, withProduct: true, day: Timestamp.now().day, to: &json)
        return json.bytes
    }

    func write(_ facts: ListFacts, withProduct: Bool, day: Int, to json: inout JSONText) {
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

extension HeldList {
    /// The list with its items as they are shown.
    ///
    /// - Parameters:
    ///   - sort: nil for the list's own.
    ///   - since: only items that changed behind that version, deleted ones too; nil for all that stand.
    package func json(
        _ facts: ListFacts,
        by sort: ListItemSort?,
        since: Int64?,
        day: Int = Timestamp.now().day
    ) -> [UInt8] {
        let shown = list.shown(facts, by: sort)
        // A version that the list never had is of another life: everything.
        let isResync = since.map { $0 > list.version } ?? false
        let known = isResync ? nil : since
        let items =
            known.map { version in list.items.filter { $0.version > version }.sorted { $0.key < $1.key } } ?? shown
        var json = JSONText(reserving: 900 * (items.count + 1))
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

extension UserList {
    /// What devices are told of a list that they have nothing of: they are to read it.
    package var announcement: [UInt8] {
        var json = JSONText(reserving: 400)
        json.object { json in
            writeHead(to: &json)
            json.field("version", version)
            json.field("resync", true)
        }
        return json.bytes
    }

    fileprivate func writeHead(to json: inout JSONText) {
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

extension ListOutcome {
    /// The most bytes of what devices are told of a change; of a larger one they are told to read the list.
    private static let eventBound = 32 << 10

    /// As other devices and members are told, without what is the caller's own, and without products.
    package var event: [UInt8] {
        if isBroughtBack { return held.list.announcement }
        let whole = json(isEvent: true)
        return whole.count > Self.eventBound ? held.list.announcement : whole
    }

    /// What the change did: the items that changed, and the way from what was shown to what is; the order whole, where what was
    /// shown is not sure.
    package var json: [UInt8] { json(isEvent: false) }

    private func json(isEvent: Bool, day: Int = Timestamp.now().day) -> [UInt8] {
        let ids = new.map(\.id.text)
        let before = Set(old)
        let content = new.indices.filter { edited.contains(new[$0].id) && before.contains(ids[$0]) }
        let diff = try? OrderDiff(
            old: old,
            new: ids,
            mode: isOldSure ? .moves : .order,
            fromVersion: fromVersion,
            toVersion: held.list.version
        ).with([], changed: content.map { Int32($0) })
        var json = JSONText(reserving: 600 + 600 * changed.count)
        json.object { json in
            if isEvent {
                held.list.writeHead(to: &json)
            } else {
                json.key("list")
                held.write(to: &json)
            }
            // Where others went, the diff alone says.
            let told = isEvent ? edited : edited.union(named)
            let items = held.list.items.filter { told.contains($0.id) }.sorted { $0.key < $1.key }
            json.array("items", items) { $1.write(facts, withProduct: !isEvent, day: day, to: &$0) }
            if !missing.isEmpty { json.array("missing", missing) { $0.string($1.text) } }
            json.field("version", held.list.version)
            if let diff { json.field("diff", json: String(decoding: diff.json(), as: UTF8.self)) }
        }
        return json.bytes
    }
}

extension ListsMoved {
    package var json: [UInt8] {
        var json = JSONText(reserving: 100 + 100 * moved.count)
        json.object { json in
            json.field("revision", revision)
            json.object("diff") { OrderEditOutcome.write(moved, to: &$0) }
        }
        return json.bytes
    }
}
