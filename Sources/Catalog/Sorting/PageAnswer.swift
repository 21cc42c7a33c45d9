/// An answer to a page request.
package enum PageAnswer: Sendable {
    /// The client already has it.
    case unchanged(tag: String)
    case page(ShelfPage, tag: String)
}
