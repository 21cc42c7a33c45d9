package import JSON
package import Catalog

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
