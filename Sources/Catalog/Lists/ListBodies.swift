// Lists as clients send them.

extension NewList {
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        let id = try reader.uniqueID("id")
        guard let name = try reader.words("name", bytes: UserList.nameBound) else {
            throw .unprocessable(field: "name", detail: "name is missing; a list is called something")
        }
        self.init(
            id: id ?? .random(),
            name: name,
            autoSort: try reader.bool("auto_sort"),
            sort: try reader.choice("sort") ?? .position
        )
        try reader.end()
    }
}

extension ListSettings {
    /// Reads a merge patch of a list: what is left out stays as it is.
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        if reader.has("name"), try reader.words("name", bytes: UserList.nameBound) == nil {
            throw .unprocessable(field: "name", detail: "name is blank; a list is called something")
        }
        self.init(
            name: try reader.words("name", bytes: UserList.nameBound),
            autoSort: try reader.bool("auto_sort"),
            sort: try reader.choice("sort"),
            isDeleted: try reader.bool("deleted")
        )
        try reader.end()
    }
}

extension ListEdit {
    /// Reads one new item, or `{"items":[…]}`.
    package static func add(body: JSONValue) throws(CatalogError) -> ListEdit {
        .add(try each(body) { value, field throws(CatalogError) in try NewListItem(body: value, field: field) })
    }

    /// Reads changes of many items: `{"items":[{"id":"…","checked":true}]}`.
    package static func change(body: JSONValue) throws(CatalogError) -> ListEdit {
        .change(
            try each(body) { value, field throws(CatalogError) in
                try ListItemChange(nil, body: value, field: field)
            }
        )
    }

    private static func each<Item>(
        _ body: JSONValue,
        _ read: (JSONValue, _ field: String) throws(CatalogError) -> Item
    ) throws(CatalogError) -> [Item] {
        guard body["items"] != nil else { return [try read(body, "")] }
        var reader = try BodyReader(body)
        guard case .array(let values)? = reader.value("items") else {
            throw .malformed(parameter: "items", detail: "items must be an array")
        }
        try reader.end()
        guard (1...UserList.addBound).contains(values.count) else {
            throw .unprocessable(field: "items", detail: "1 to \(UserList.addBound) items are sent at once")
        }
        var items: [Item] = []
        for (index, value) in values.enumerated() { items.append(try read(value, "items[\(index)].")) }
        return items
    }
}

extension NewListItem {
    fileprivate init(body: JSONValue, field: String) throws(CatalogError) {
        var reader = try BodyReader(body)
        let (store, sku) = (try reader.string("store", bytes: 64), try reader.string("sku", bytes: 256))
        let text = try reader.words("text", bytes: ListItem.textBound)
        var product: ProductReference?
        if store != nil || sku != nil {
            guard let key = store.flatMap({ CatalogKey($0) }), let sku = sku.flatMap({ SKU($0) }) else {
                throw .unprocessable(field: "\(field)sku", detail: "a product is named by its store and its sku, both")
            }
            product = ProductReference(key, sku)
        }
        guard product != nil || text != nil else {
            throw .unprocessable(field: "\(field)text", detail: "an item is a product, by store and sku, or a text")
        }
        self.init(
            id: try reader.uniqueID("id") ?? .random(),
            product: product,
            text: text,
            quantity: try reader.quantity(field) ?? ExactDecimal(1),
            note: try reader.words("note", bytes: ListItem.noteBound),
            isChecked: try reader.bool("checked") ?? false
        )
        try reader.end()
    }
}

extension ListItemChange {
    /// Reads a merge patch of an item.
    ///
    /// - Parameter id: nil where the body names it.
    package init(_ id: UniqueID?, body: JSONValue, field: String = "") throws(CatalogError) {
        var reader = try BodyReader(body)
        var named = id
        if named == nil { named = try reader.uniqueID("id") }
        guard let id = named else {
            throw .unprocessable(field: "\(field)id", detail: "an item that is changed is named by its id")
        }
        let text = try reader.words("text", bytes: ListItem.textBound)
        if reader.has("text"), text == nil {
            throw .unprocessable(field: "\(field)text", detail: "the text of an item is not blank")
        }
        let note = try reader.words("note", bytes: ListItem.noteBound)
        var moment: Timestamp?
        if let given = try reader.string("modified_at", bytes: 64) {
            guard let time = Timestamp(rfc3339: given) else {
                throw .unprocessable(
                    field: "\(field)modified_at",
                    detail: "modified_at must be a time as RFC 3339 writes it"
                )
            }
            moment = time
        }
        self.init(
            id,
            text: text,
            quantity: try reader.quantity(field),
            note: reader.has("note") ? .some(note) : nil,
            isChecked: try reader.bool("checked"),
            isDeleted: try reader.bool("deleted"),
            modifiedAt: moment
        )
        try reader.end()
    }
}

extension BodyReader {
    fileprivate mutating func quantity(_ field: String) throws(CatalogError) -> ExactDecimal? {
        guard let quantity = try decimal("quantity") else { return nil }
        guard !quantity.isNegative, !quantity.isZero, quantity < ListItem.quantityBound,
            quantity.scale <= ListItem.quantityScale
        else {
            throw .unprocessable(
                field: "\(field)quantity",
                detail:
                    "a quantity is above 0 and below \(ListItem.quantityBound), with at most \(ListItem.quantityScale) decimals"
            )
        }
        return quantity
    }

    package mutating func uniqueID(_ name: String) throws(CatalogError) -> UniqueID? {
        guard let text = try string(name, bytes: 64) else { return nil }
        guard let id = UniqueID(text) else { throw .unprocessable(field: name, detail: "\(name) must be a UUID") }
        return id
    }
}

extension ListShare {
    /// Reads what a share is to give: `{"role":"reader"}`.
    package init(body: JSONValue, now: Timestamp) throws(CatalogError) {
        var reader = try BodyReader(body)
        let text = try reader.string("role", bytes: 64)
        try reader.end()
        let role = text.flatMap(ListRole.init)
        guard text == nil || role.map(ListRole.shared.contains) == true else {
            throw .malformed(
                parameter: "role",
                detail: "role must be one of those allowed",
                allowed: ListRole.shared.map(\.rawValue)
            )
        }
        self.init(
            id: .random(),
            role: role ?? .reader,
            createdAt: now,
            expiresAt: Timestamp(microseconds: now.microseconds + Int64(Self.days) * 86_400_000_000)
        )
    }
}
