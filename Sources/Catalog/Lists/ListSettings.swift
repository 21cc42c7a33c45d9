/// A change of a list's own settings; nil leaves a setting as it is.
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
