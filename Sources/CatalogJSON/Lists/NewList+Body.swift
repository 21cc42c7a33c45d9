package import Catalog

// Lists as clients send them.

extension NewList {
    package init(body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        let id = try reader.uniqueID("id")
        guard let name = try reader.words("name", bytes: UserList.nameLimit) else {
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
        if reader.has("name"), try reader.words("name", bytes: UserList.nameLimit) == nil {
            throw .unprocessable(field: "name", detail: "name is blank; a list is called something")
        }
        self.init(
            name: try reader.words("name", bytes: UserList.nameLimit),
            autoSort: try reader.bool("auto_sort"),
            sort: try reader.choice("sort"),
            isDeleted: try reader.bool("deleted")
        )
        try reader.end()
    }
}
