package import Catalog
internal import JSON

extension Suggestion {
    /// Writes the suggestion in the format of responses.
    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("kind", subject.kind.rawValue)
            switch subject {
            case .word, .brand: break
            case .shelf(let key): json.field("shelf", key.text)
            case .product(let sku): json.field("sku", sku.text)
            }
            json.field("text", text)
            json.array("matches", matches) { json, range in
                json.object { json in
                    json.field("from", range.lowerBound)
                    json.field("to", range.upperBound)
                }
            }
        }
    }
}

extension [Suggestion] {
    /// Returns the suggestions as the API returns them.
    package func json(for request: SuggestionRequest) -> [UInt8] {
        JSONWriter.object { json in
            json.field("query", request.text)
            json.array("suggestions", self) { $1.write(to: &$0) }
        }
    }
}
