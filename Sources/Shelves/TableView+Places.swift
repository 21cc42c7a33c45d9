package import Catalog

/// A place in the order of a view: the values of a product, which may have changed or left the shelf since.
package struct ViewPlace: Sendable {
    let isSoldOut: Bool
    /// The value of each criterion, and the sort key of its text, if it is one.
    let values: [(value: SortValue, text: CollatedText?)]
    let name: CollatedText
    let sku: SKU

    /// - Parameter key: returns the sort key of a text in the language of the store.
    package init(_ cursor: Cursor, key: (String) -> [UInt8]) {
        isSoldOut = cursor.isSoldOut
        values = cursor.values.map { value in
            guard case .text(let text) = value else { return (value, nil) }
            return (value, CollatedText(text, key: key(text)))
        }
        name = CollatedText(cursor.name, key: key(cursor.name))
        sku = SKU(stored: cursor.id)
    }

    /// The place of a row.
    fileprivate init(_ table: ShelfTable, _ row: Int, in view: TableView) {
        let product = table.values(row)
        isSoldOut = !product.inStock
        values = zip(view.criteria, table.values(row, of: view.criteria)).map { criterion, value in
            if case .key(let term) = criterion { (value, table.text(of: term.key, row)) } else { (value, nil) }
        }
        (name, sku) = (product.name, product.sku)
    }
}

extension ShelfTable {
    /// Returns the index, in a view, of the first row after a place.
    ///
    /// - Precondition: the place has a value for each compared key of the view's sort.
    /// - Complexity: O(log *n*), or O(log² *n*) by relevance.
    package func index(after place: ViewPlace, in view: TableView) -> Int {
        with(view.columns).index(after: place, in: view.rows, view.request, view.criteria)
    }

    private func index(
        after place: ViewPlace,
        in rows: [UInt32],
        _ request: ViewRequest,
        _ criteria: [OrderCriterion]
    ) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if compare(Int(rows[middle]), place, request, criteria) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns a view from that of an earlier table, which has the same products in the same rows, and other values in some.
    ///
    /// - Parameter changed: the rows with other values, each once.
    /// - Precondition: the matches of a search are those of both tables. This table has the columns of the request's attributes. No groups are
    ///   collapsed.
    /// - Complexity: O(*n* + *m* log *n* + *m* *n*/1000) for *n* rows and *m* changed ones.
    package func view(_ earlier: TableView, changed: [UInt32]) -> TableView {
        let request = earlier.request
        precondition(!request.collapsesGroups, "representatives may change")
        var isChanged = [Bool](repeating: false, count: count)
        for row in changed { isChanged[Int(row)] = true }
        var rows = earlier.rows.filter { !isChanged[Int($0)] }
        let matches =
            request.filter.isEmpty ? nil : self.rows(matching: request.filter, in: request.currency, among: changed)
        let criteria = earlier.criteria
        func isFound(_ row: UInt32) -> Bool {
            (matches?[Int(row)] ?? true) && (earlier.matches.map { $0.relevance(of: Int(row)) != nil } ?? true)
        }
        for row in changed where isFound(row) {
            let place = ViewPlace(self, Int(row), in: earlier)
            rows.insert(row, at: index(after: place, in: rows, request, criteria))
        }
        return TableView(request: request, rows: rows, matches: earlier.matches, of: self)
    }

    /// Compares a row with a place in the order of a view: negative if the row comes first.
    private func compare(_ row: Int, _ place: ViewPlace, _ request: ViewRequest, _ criteria: [OrderCriterion]) -> Int {
        let sort = request.sort
        let isSoldOut = !inStock[row]
        if request.sortsSoldOutLast, sort.respectsAvailability, isSoldOut != place.isSoldOut {
            return isSoldOut ? 1 : -1
        }
        for (criterion, value) in zip(criteria, place.values) {
            let order = compare(row, criterion, value, request.dimension)
            if order != 0 { return order }
        }
        var order = compareName(row, place.name)
        if order == 0 { order = skus.compare(row, Array(place.sku.text.utf8)) }
        return sort.tieBreakerDirection == .ascending ? order : -order
    }
}
