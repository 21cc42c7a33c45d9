internal import Catalog

/// The points for searches, in addition to what their requests cost without a search.
enum SearchCost {
    /// The points for a search: finding the products takes about as long as a page, and the parts that match take several times as long.
    static let search = 5
    /// The points for the correction of a search without results, which compares its words with all others.
    static let correction = 10

    /// Returns the points of a request that names a search. One with the cursor of a search is charged when the cursor has been read.
    static func surcharge(_ target: RequestTarget) -> Int { target.values("q").isEmpty ? 0 : search }
}

extension WorkMeter {
    /// Adds the work of a search that its request does not show.
    ///
    /// - Parameters:
    ///   - found: what the search finds; nil without a search.
    ///   - indexedProducts: the number of products whose search index was built for the request.
    func add(_ found: SearchSummary?, indexedProducts: Int) {
        add(rows: indexedProducts)
        if found?.failure != nil { add(points: SearchCost.correction) }
    }
}
