/// A change to a list's settings; nil keeps a setting.
package struct ListSettings: Sendable, Hashable {
    package var name: String?
    package var autoSort: Bool?
    package var sort: ListItemSort?
    package var isDeleted: Bool?

    package init(
        name: String? = nil,
        autoSort: Bool? = nil,
        sort: ListItemSort? = nil,
        isDeleted: Bool? = nil
    ) {
        self.name = name
        self.autoSort = autoSort
        self.sort = sort
        self.isDeleted = isDeleted
    }
}
