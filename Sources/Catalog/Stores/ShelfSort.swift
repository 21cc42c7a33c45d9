/// What a store's shelves are sorted by.
package enum ShelfSort: String, CaseIterable, Sendable, Hashable {
    case position, name
    case nameDescending = "-name"
    case modified
    case modifiedDescending = "-modified"
}
