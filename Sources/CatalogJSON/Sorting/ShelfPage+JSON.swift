package import Catalog

extension ShelfPage {
    /// Returns the page in the API's format.
    ///
    /// - Parameter token: the next page's cursor as text.
    package func json(day: Int, nextCursor token: String?) -> [UInt8] {
        var json = JSONWriter(reserving: 600 * (products.count + 1))
        let presentation = ProductPresentation(store: head.store, day: day)
        json.object { json in
            json.array("products", products) { presentation.write($1, to: &$0) }
            json.object("sort") { json in
                json.field("keys", plan.sort.description)
                json.field("source", plan.source.rawValue)
            }
            json.field("filter", json: plan.view.filterJSON.text)
            if let facets { facets.write(to: &json, plan.view.filter, head.store.currency) }
            json.field("version", head.state.version)
            json.field("as_of", Timestamp.date(ofDay: head.store.scoreDay(on: day)))
            json.object("page") { json in
                json.field("limit", plan.limit)
                json.field("next_cursor", token)
            }
        }
        return json.bytes
    }
}
