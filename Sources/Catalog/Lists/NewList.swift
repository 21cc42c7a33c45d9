/// A new list.
package struct NewList: Sendable, Hashable {
    package var id: UniqueID
    package var name: String
    package var autoSort: Bool?
    package var sort: ListItemSort

    package init(id: UniqueID = .random(), name: String, autoSort: Bool? = nil, sort: ListItemSort = .position) {
        self.id = id
        self.name = name
        self.autoSort = autoSort
        self.sort = sort
    }
}
