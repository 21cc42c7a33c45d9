package import JSON
package import Catalog

extension ListEdit {
    /// Parses one new item, or `{"items":[…]}`.
    package static func add(body: JSONValue) throws(CatalogError) -> ListEdit {
        .add(try each(body) { value, field throws(CatalogError) in try NewListItem(body: value, field: field) })
    }

    /// Parses changes to several items: `{"items":[{"id":"…","checked":true}]}`.
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
        guard (1...UserList.addLimit).contains(values.count) else {
            throw .unprocessable(field: "items", detail: "items must have 1 to \(UserList.addLimit) elements")
        }
        var items: [Item] = []
        for (index, value) in values.enumerated() { items.append(try read(value, "items[\(index)].")) }
        return items
    }
}
