extension ShelfPage {
    /// The page as the API answers it.
    ///
    /// - Parameter token: the next page's cursor as text.
    package func json(day: Int, nextCursor token: String?) -> [UInt8] {
        var json = JSONText(reserving: 600 * (products.count + 1))
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

extension ShelfOrder {
    package var json: [UInt8] {
        var json = JSONText(reserving: ids.count * 16 + 128)
        json.object { json in
            json.field("sort", sort.description)
            json.field("source", source.rawValue)
            json.field("filter", json: view.filterJSON.text)
            json.field("version", head.state.version)
            json.field("order_version", head.state.orderVersion)
            json.array("ids", ids) { $0.string($1) }
        }
        return json.bytes
    }
}

extension Store {
    package func write(to json: inout JSONText) {
        json.object { json in
            json.field("key", key.text)
            json.field("title", title)
            json.field("currency", currency.code)
            json.field("locale", locale)
            json.field("unit_pricing", unitPricing.rawValue)
            json.field("sold_out", soldOut.rawValue)
            json.field("default_sort", defaultSort?.description)
            json.field("popularity_metric", popularityMetric.rawValue)
            json.field("popularity_half_life_days", popularityHalfLifeDays)
            json.field("newcomer_boost", newcomerBoost)
        }
    }
}

extension ShelfState {
    package func write(
        options: [SortOption]? = nil,
        filters: [FilterOption]? = nil,
        to json: inout JSONText
    ) {
        json.object { json in
            json.field("key", shelf.key.text)
            json.field("title", shelf.title)
            json.field("parent", shelf.parent?.text)
            json.field("product_count", productCount)
            json.field("default_sort", shelf.defaultSort?.description)
            json.field("dimension", shelf.dimension?.rawValue)
            json.field("sold_out", shelf.soldOut?.rawValue)
            json.field("position_source", shelf.positionSource?.description)
            json.field("modified_at", modifiedAt.rfc3339)
            json.field("version", version)
            json.field("order_version", orderVersion)
            if let options {
                json.array("sort_options", options) { json, option in
                    json.object { json in
                        json.field("sort", option.sort.description)
                        json.field("title", option.title)
                        json.field("selected", option.isSelected)
                    }
                }
            }
            if let filters { json.array("filter_options", filters) { $1.write(to: &$0) } }
        }
    }
}
