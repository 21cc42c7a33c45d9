package import Catalog
internal import JSON

extension PageOf where Items == RenderedProducts {
    /// Returns the page in the API's format.
    ///
    /// - Parameter cursor: the next page's cursor as text.
    package func json(day: Int, nextCursor cursor: String?) -> [UInt8] {
        let products = items.bytes(with: matches, cards, members)
        var json = JSONWriter(reserving: products.count + 1024)
        json.object { json in
            json.key("products")
            json.array(containing: products)
            search?.write(to: &json)
            plan.resolvedSort.writeSort(to: &json)
            plan.resolvedSort.writeCollapse(to: &json)
            json.field("filter", json: plan.resolvedSort.filterJSON.text)
            if let facets { facets.write(to: &json, plan.resolvedSort.filter, head.store.currency) }
            if plan.union == nil { json.field("version", head.state.version) }
            json.field("as_of", Timestamp.date(ofDay: head.store.scoreDay(on: day)))
            json.object("page") { json in
                json.field("limit", plan.limit)
                json.field("next_cursor", cursor)
                if let total { json.field("total", total) }
            }
        }
        return json.bytes
    }
}

extension ResolvedSort {
    /// Writes the member `collapse` of pages, orders, ranks and diffs, if each group has one card.
    func writeCollapse(to json: inout JSONWriter) { if collapsesGroups { json.field("collapse", true) } }

    /// Writes the member `sort` of pages and ranks.
    func writeSort(to json: inout JSONWriter) {
        json.object("sort") { json in
            json.field("keys", sort.description)
            json.field("source", source.rawValue)
            if let ignored { json.field("ignored", ignored.rawValue) }
        }
    }
}

extension JSONWriter {
    /// Writes the field `page` of a paged response.
    package mutating func page(_ limit: Int, _ cursor: String?) {
        object("page") { json in
            json.field("limit", limit)
            json.field("next_cursor", cursor)
        }
    }
}

extension ShelfOrder {
    package var json: [UInt8] {
        var json = JSONWriter(reserving: list.count * 16 + 128)
        json.object { json in
            json.field("sort", sort.description)
            json.field("source", source.rawValue)
            if let ignored = resolvedSort.ignored { json.field("ignored", ignored.rawValue) }
            search?.write(to: &json)
            resolvedSort.writeCollapse(to: &json)
            json.field("filter", json: resolvedSort.filterJSON.text)
            if let version {
                json.field("version", version)
                json.field("order_version", head.state.orderVersion)
            }
            json.array("ids", list) { $0.string($1) }
        }
        return json.bytes
    }
}
