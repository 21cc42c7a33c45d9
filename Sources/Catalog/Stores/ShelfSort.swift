/// The sorts of a store's shelves.
package enum ShelfSort: String, CaseIterable, Sendable, Hashable {
    case position, name
    case nameDescending = "-name"
    case modified
    case modifiedDescending = "-modified"
}
