package import Catalog
package import JSON

extension ShelfRanks {
    /// Returns the ranks as the API returns them.
    package var json: [UInt8] {
        let presentation = ProductPresentation(store: basis.head.store)
        return JSONWriter.object { json in
            plan.resolvedSort.writeSort(to: &json)
            search?.write(to: &json)
            plan.resolvedSort.writeCollapse(to: &json)
            if plan.sort.terms.contains(where: { $0.key == .unitPrice }) {
                json.field("dimension", plan.dimension.rawValue)
            }
            json.field("filter", json: plan.resolvedSort.filterJSON.text)
            if plan.union == nil { json.field("version", basis.head.state.version) }
            json.field("of", count)
            json.array("products", ranks) { json, rank in
                json.object { json in
                    json.field("sku", rank.sku)
                    json.field("reason", rank.reason.rawValue)
                    json.field("rank", rank.rank)
                    if let representative = rank.representative {
                        json.field("id", representative.cardID)
                        json.field("representative", representative.sku.text)
                    }
                    json.object("neighbours") { json in
                        json.field("before", rank.before)
                        json.field("after", rank.after)
                    }
                    json.array("filters", rank.filters) { $0.string($1.name) }
                    json.array("tuple", tuple(of: rank, presentation)) { json, element in
                        json.object { json in
                            json.field("key", element.key)
                            json.key("value")
                            json.raw(element.value.text)
                        }
                    }
                }
            }
        }
    }

    /// Returns the values that are compared, from the first to the last: the availability, the keys of the sort, and the tie-breakers. The manual
    /// order has no value that means something to clients. Of unit prices, those in the order's dimension come first. With collapsed groups,
    /// the values are those of the product that represents the group.
    ///
    /// - Returns: nothing for a product that is not on the shelf.
    package func tuple(
        of rank: ProductRank,
        _ presentation: ProductPresentation
    ) -> [(key: String, value: JSONValue)] {
        guard let product = rank.representative ?? rank.product else { return [] }
        var tuple: [(key: String, value: JSONValue)] = []
        if plan.sortsSoldOutLast, plan.sort.respectsAvailability { tuple.append(("in_stock", .bool(product.inStock))) }
        for term in plan.sort.comparedTerms {
            let value =
                switch term.key {
                case .relevance: rank.relevance?.json
                case .closeness: rank.relevance?.closenessJSON
                default: Self.value(term.key, of: product, presentation)
                }
            tuple.append((term.key.name, value ?? .null))
        }
        if !tuple.contains(where: { $0.key == "name" }) { tuple.append(("name", .string(product.name))) }
        return tuple + [("sku", .string(product.sku.text))]
    }

    private static func value(
        _ key: SortKey,
        of product: Product,
        _ presentation: ProductPresentation
    ) -> JSONValue {
        switch key {
        case .popularity: return .number(JSONWriter.text(of: presentation.score(product.popularity)))
        case .created: return .string(product.createdAt.rfc3339)
        case .modified: return .string(product.modifiedAt.rfc3339)
        case .attribute(let reference):
            guard let attribute = reference.resolved, let value = attribute.value(of: product) else { return .null }
            return attribute.json(of: value)
        default: break
        }
        switch key.value(of: Listing(product: product, position: [], isSoldOut: false)) {
        case .missing, .bytes, .fraction: return .null
        case .integer(let number): return .integer(number)
        case .real(let number): return .number(JSONWriter.text(of: number))
        case .text(let text): return .string(text)
        case .unitPrice(let dimension, let digits):
            // The price that is compared, because the shown one has few decimals.
            let whole = digits.prefix { $0 != "." }
            var decimals = digits.dropFirst(whole.count)
            while decimals.last == "0" || decimals.last == "." { decimals.removeLast() }
            return .object([
                .init("dimension", .string(dimension.rawValue)), .init("value", .string(String(whole) + decimals)),
            ])
        }
    }
}

extension SearchRelevance {
    fileprivate var json: JSONValue {
        .object([
            .init("class", .string(searchClass.name)), .init("field", .string(field.name)),
            .init("begins_name", .bool(beginsName)),
        ])
    }

    fileprivate var closenessJSON: JSONValue {
        .object([.init("place", .integer(Int64(place))), .init("name_words", .integer(Int64(nameWords)))])
    }
}

extension ResolvedAttribute {
    /// Returns a value by which products are compared. Ratios are rounded down to six decimals.
    fileprivate func json(of value: AttributeValue) -> JSONValue {
        switch value {
        case .number: .number(form.text(of: value))
        case .boolean(let flag): .bool(flag)
        case .ratio(let fraction):
            .string(
                ExactDecimal(units(of: fraction, roundedUp: false), scale: AttributeForm.limitDecimals).description
            )
        case .rank, .text, .date: .string(form.text(of: value))
        case .set: .null
        }
    }
}
