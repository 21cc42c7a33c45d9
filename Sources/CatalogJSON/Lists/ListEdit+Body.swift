package import Catalog
package import JSON

extension ListEdit {
    /// Parses one new item, or `{"items":[…]}`.
    package static func add(body: JSONValue) throws(CatalogError) -> ListEdit {
        .add(
            try each(body, example: #"{"text":"Milk"}"#) { reader, field throws(CatalogError) in
                try NewListItem(reader, field: field)
            }
        )
    }

    /// Parses changes to several items: `{"items":[{"id":"…","checked":true}]}`.
    package static func change(body: JSONValue) throws(CatalogError) -> ListEdit {
        .change(
            try each(body, example: #"{"id":"7c3f9a52-6d1e-4b0a-9a57-2f1c8f0e4d10","checked":true}"#) {
                reader,
                field throws(CatalogError) in
                try ListItemChange(nil, reader, field: field)
            }
        )
    }

    private static func each<Item>(
        _ body: JSONValue,
        example: String,
        _ read: (BodyReader, _ field: String) throws(CatalogError) -> Item
    ) throws(CatalogError) -> [Item] {
        var reader = try BodyReader(body)
        guard reader.has("items") else { return [try read(reader, "")] }
        guard case .array(let values)? = reader.value("items") else {
            throw .malformed(parameter: "items", detail: "items must be an array")
        }
        try reader.end()
        guard (1...UserList.addLimit).contains(values.count) else {
            throw .unprocessable(field: "items", detail: "items must have 1 to \(UserList.addLimit) elements")
        }
        var items: [Item] = []
        for (index, value) in values.enumerated() {
            let field = "items[\(index)]"
            let reader = try BodyReader(value, parameter: field, example: example)
            items.append(try read(reader, "\(field)."))
        }
        return items
    }
}

// Lists in request bodies.

extension NewList {
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        let id = try reader.uniqueID("id")
        guard let name = try reader.nonBlankString("name", bytes: UserList.nameLimit) else {
            throw .unprocessable(field: "name", detail: "name is required")
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
    /// Parses a merge patch of a list; missing members are not changed.
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        if reader.has("name"), try reader.nonBlankString("name", bytes: UserList.nameLimit) == nil {
            throw .unprocessable(field: "name", detail: "name must not be blank")
        }
        self.init(
            name: try reader.nonBlankString("name", bytes: UserList.nameLimit),
            autoSort: try reader.bool("auto_sort"),
            sort: try reader.choice("sort"),
            isDeleted: try reader.bool("deleted")
        )
        try reader.end()
    }
}

extension NewListItem {
    fileprivate init(_ reader: BodyReader, field: String) throws(CatalogError) {
        var reader = reader
        let (store, sku) = (try reader.string("store", bytes: 64), try reader.string("sku", bytes: 256))
        let text = try reader.nonBlankString("text", bytes: ListItem.textLimit)
        var product: ProductReference?
        if store != nil || sku != nil {
            guard let key = store.flatMap({ CatalogKey($0) }), let sku = sku.flatMap({ SKU($0) }) else {
                throw .unprocessable(field: "\(field)sku", detail: "a product requires both store and sku")
            }
            product = ProductReference(key, sku)
        }
        guard product != nil || text != nil else {
            throw .unprocessable(
                field: "\(field)text",
                detail: "an item requires either a product (store and sku) or a text"
            )
        }
        self.init(
            id: try reader.uniqueID("id") ?? .random(),
            product: product,
            text: text,
            quantity: try reader.quantity(field) ?? ExactDecimal(1),
            note: try reader.nonBlankString("note", bytes: ListItem.noteLimit),
            isChecked: try reader.bool("checked") ?? false
        )
        try reader.end()
    }
}

extension ListItemChange {
    /// Reads a merge patch of an item.
    package init(_ id: UniqueID, body: JSONValue) throws(CatalogError) {
        try self.init(id, BodyReader(body), field: "")
    }

    /// - Parameter id: nil if the body contains it.
    fileprivate init(_ id: UniqueID?, _ reader: BodyReader, field: String) throws(CatalogError) {
        var reader = reader
        var named = id
        if named == nil { named = try reader.uniqueID("id") }
        guard let id = named else {
            throw .unprocessable(field: "\(field)id", detail: "id is required")
        }
        let text = try reader.nonBlankString("text", bytes: ListItem.textLimit)
        if reader.has("text"), text == nil {
            throw .unprocessable(field: "\(field)text", detail: "text must not be blank")
        }
        let note = try reader.nonBlankString("note", bytes: ListItem.noteLimit)
        var moment: Timestamp?
        if let given = try reader.string("modified_at", bytes: 64) {
            guard let time = Timestamp(rfc3339: given) else {
                throw .unprocessable(
                    field: "\(field)modified_at",
                    detail: "modified_at must be an RFC 3339 time, such as 2026-03-01T09:30:00Z"
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
        guard !quantity.isNegative, !quantity.isZero, quantity < ListItem.quantityLimit,
            quantity.scale <= ListItem.quantityScale
        else {
            throw .unprocessable(
                field: "\(field)quantity",
                detail:
                    "quantity must be above 0 and below \(ListItem.quantityLimit), with at most \(ListItem.quantityScale) decimals"
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
