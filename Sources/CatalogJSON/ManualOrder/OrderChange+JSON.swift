package import JSON
package import Catalog

extension OrderChange {
    /// Writes the change as an object.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("number", number)
            json.field("at", at.rfc3339)
            json.field("subject", subject)
            json.field("kind", kind.rawValue)
            json.field("count", count)
            json.array("ids", ids) { $0.string($1) }
            json.array("moves", moves) { json, move in
                json.object { json in
                    json.field("id", move.id)
                    json.field("from_after", move.fromAfter)
                    json.field("to_after", move.toAfter)
                }
            }
            json.field("undoes", undoes)
            json.field("undone_by", undoneBy)
        }
    }
}
