/// How pages by a single key without a filter are read.
///
/// The modes exist while the indexes of sorts do.
package enum ShelfReads: String, Sendable {
    /// From the indexes of PostgreSQL.
    case index
    /// From shelves in memory.
    case memory
    /// From memory; the same page is then read in both ways in one transaction, and a difference is an error.
    case compare
}
