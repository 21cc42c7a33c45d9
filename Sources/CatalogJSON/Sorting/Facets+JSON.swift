package import Catalog
package import JSON

extension Facets {
    package func write(to json: inout JSONWriter, _ filter: Filter, _ currency: Currency) {
        json.object("facets") { json in
            json.field("total", total)
            if counted.contains(.brand) { json.object("brand") { Self.write(brands, filter[.brand], to: &$0) } }
            if counted.contains(.tag) { json.object("tag") { Self.write(tags, filter[.tag], to: &$0) } }
            if counted.contains(.inStock) {
                json.object("in_stock") { json in
                    json.array("values", [(true, inStock), (false, soldOut)]) { json, value in
                        json.object { json in
                            json.field("value", value.0)
                            json.field("count", value.1)
                            json.field("selected", filter[.inStock] == .flag(value.0))
                        }
                    }
                }
            }
            if counted.contains(.price) { json.object("price") { writePrices(currency, to: &$0) } }
            for facet in attributes { json.object(name: facet.name) { facet.write(to: &$0, filter) } }
        }
    }

    private static func write(_ counts: [Count], _ value: FilterValue?, to json: inout JSONWriter) {
        var named: [String] = []
        if case .texts(let texts)? = value { named = texts }
        write(counts, selecting: named, to: &json)
    }

    /// Writes the first values, which are the most frequent ones, and those that the filter names.
    fileprivate static func write(
        _ counts: [Count],
        upTo limit: Int = valueLimit,
        selecting named: [String],
        to json: inout JSONWriter
    ) {
        let selected = Set(named)
        var shown = Array(counts.prefix(limit))
        shown += counts.dropFirst(limit).filter { selected.contains($0.value) }
        let known = selected.isEmpty ? [] : Set(shown.map(\.value))
        json.array("values", shown + named.filter { !known.contains($0) }.map { Count($0, 0) }) { json, count in
            json.object { json in
                json.field("value", count.value)
                json.field("count", count.count)
                json.field("selected", selected.contains(count.value))
            }
        }
        json.field("more", counts.count - shown.count)
    }

    private func writePrices(_ currency: Currency, to json: inout JSONWriter) {
        json.field("min", prices.first.map { currency.decimal($0.minor) })
        json.field("max", prices.last.map { currency.decimal($0.minor) })
        json.array("buckets", buckets) { json, bucket in
            json.object { json in
                json.field("price_min", bucket.from.map(currency.decimal))
                json.field("price_max", bucket.to.map(currency.decimal))
                json.field("count", bucket.count)
            }
        }
        json.field("unpriced", unpriced)
    }
}

extension AttributeFacet {
    fileprivate func write(to json: inout JSONWriter, _ filter: Filter) {
        json.field("type", attribute.form.typeName)
        switch counts {
        case .values(let counts):
            var selected: [String] = []
            let condition: AttributeOperator = attribute.form.operators.contains(.anyOf) ? .anyOf : .equals
            if case .attribute(let wanted)? = filter[.attribute(.resolved(attribute), condition)] {
                selected = wanted.texts
            }
            // The empty text asks for products without a value, which are not among the values; only sets may be empty.
            if condition == .equals { selected.removeAll { $0.isEmpty } }
            // All values of an enum are shown, in their declared order.
            let limit = attribute.form.isEnumeration ? counts.count : Facets.valueLimit
            Facets.write(counts, upTo: limit, selecting: selected, to: &json)
        case .range(let range):
            json.field("min", range.min)
            json.field("max", range.max)
            json.array("buckets", range.buckets) { json, bucket in
                json.object { json in
                    json.field("min", bucket.from)
                    json.field("max", bucket.to)
                    json.field("count", bucket.count)
                }
            }
        }
        json.field("unknown", unknown)
    }
}

extension AttributeForm {
    fileprivate var isEnumeration: Bool { if case .enumeration = self { true } else { false } }
}

extension FilterOption {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("filter", key.name)
            json.field("title", title)
            json.field("type", key.form.name)
            json.field("repeatable", key.form.isRepeatable)
            json.field("selected", json: selected.text)
            if let values {
                json.array("values", values) { json, value in
                    json.object { json in
                        json.field("value", value.value)
                        json.field("title", value.title)
                    }
                }
            }
        }
    }
}
