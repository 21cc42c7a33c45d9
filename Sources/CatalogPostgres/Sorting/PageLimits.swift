/// The numbers of rows from which pages are read in another way.
package struct PageLimits: Hashable, Sendable {
    /// The number of products that a filtered page may scan in the pipeline.
    package var filteredInPipeline = 10_000
    /// The number of products that a page may sort in the pipeline.
    package var sortedInPipeline = 1_000
    /// The number of products up to which a filter keeps few, so that all of them are read and sorted.
    package var few = 1_000
    /// How many times as many rows as a filtered page shows may be read for it. If they do not suffice, the page is partial.
    package var walkedPages = 20
    /// The number of rows that may be read for any page.
    package var walkedRows = 500

    /// The numbers of products of a shelf whose facets are counted from columns in memory.
    package var countedInMemory = 2_000...200_000

    package init() {}
}
