package import Catalog

extension OrderEditOutcome {
    /// The outcome as the API answers it.
    package var json: [UInt8] {
        var json = JSONText(reserving: 200 + 64 * moved.count)
        json.object { json in
            json.field("version", version)
            json.field("order_version", orderVersion)
            json.field("change", change)
            json.object("diff") { json in
                json.field("from_version", moved.isEmpty ? version : version - 1)
                json.field("to_version", version)
                json.field("mode", DiffMode.moves.rawValue)
                Self.write(moved, to: &json)
            }
        }
        return json.bytes
    }

    /// The members of a diff in neighbour form.
    static func write(_ moved: [Moved], to json: inout JSONText) {
        json.array("deletes", [String]()) { $0.string($1) }
        json.array("inserts", [String]()) { $0.string($1) }
        json.array("moves", moved) { json, moved in
            json.object { json in
                json.field("id", moved.id)
                if let from = moved.from { json.field("from", from) }
                if let to = moved.to { json.field("to", to) }
                json.field("after", moved.after)
            }
        }
        json.array("changed", [String]()) { $0.string($1) }
    }
}
