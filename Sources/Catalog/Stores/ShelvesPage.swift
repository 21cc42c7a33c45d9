/// A page of a store's shelves.
package struct ShelvesPage: Sendable {
    package let shelves: [ShelfState]
    package let next: Cursor?

    package init(shelves: [ShelfState], next: Cursor?) {
        self.shelves = shelves
        self.next = next
    }
}
