package import Catalog

// The order of search results: the relevance, then the popularity, then the order of names and skus.

extension ShelfTable {
    /// Returns the matching rows by relevance, then by descending popularity, then by name and sku.
    ///
    /// - Precondition: the matches are those of an index of this table.
    /// - Complexity: O(*n*).
    package func rowsByRelevance(_ matches: SearchMatches) -> [UInt32] {
        var rows = matches.rows
        orderByRelevance(&rows, matches)
        return rows
    }

    /// Sorts rows stably by relevance and descending popularity. Rows without a match come last.
    package func orderByRelevance(_ rows: inout [UInt32], _ matches: SearchMatches) {
        var keys = [UInt64](repeating: .max, count: count)
        for row in rows { keys[Int(row)] = ~popularities[Int(row)].orderedBits }
        RowOrder.sort(&rows, by: keys)
        for row in rows { keys[Int(row)] = .max }
        for (row, relevance) in zip(matches.rows, matches.relevances) { keys[Int(row)] = UInt64(relevance.rawValue) }
        RowOrder.sort(&rows, by: keys)
    }

    /// Returns the values by which a matching row is sorted, for a cursor: its relevance and its popularity. The name and the sku follow them.
    package func relevanceValues(_ row: Int, _ relevance: SearchRelevance) -> [SortValue] {
        [.integer(Int64(relevance.rawValue)), .real(popularities[row])]
    }

    /// Compares a matching row with the values of a cursor, without name and sku: negative if the row comes first.
    ///
    /// - Precondition: the values are those of `relevanceValues`.
    package func compareRelevance(_ row: Int, _ relevance: SearchRelevance, with values: [SortValue]) -> Int {
        guard values.count == 2, case .integer(let other) = values[0], case .real(let popularity) = values[1] else {
            preconditionFailure("a cursor of relevance has two values")
        }
        let own = Int64(relevance.rawValue)
        if own != other { return own < other ? -1 : 1 }
        return popularities[row] == popularity ? 0 : popularities[row] > popularity ? -1 : 1
    }
}
