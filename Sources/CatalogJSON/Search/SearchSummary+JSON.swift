internal import Catalog
internal import JSON

extension SearchSummary {
    /// Writes the member `q` of pages, orders, ranks and diffs.
    func write(to json: inout JSONWriter) {
        json.object("q") { json in
            json.field("text", text.text)
            json.field("class", searchClass.name)
            guard let failure else { return }
            json.array("missing", failure.missing) { $0.string($1) }
            json.field("did_you_mean", failure.correction)
        }
    }
}

extension [ProductMatch] {
    /// The member `matches` of a product, after a comma.
    var member: [UInt8] {
        var json = JSONWriter(reserving: 64 * count + 16)
        json.object { json in
            json.array("matches", self) { json, match in
                json.object { json in
                    json.field("field", match.field.name)
                    if let index = match.field.index { json.field("index", index) }
                    json.field("from", match.range.lowerBound)
                    json.field("to", match.range.upperBound)
                }
            }
        }
        return [UInt8(ascii: ",")] + json.bytes.dropFirst().dropLast()
    }
}
