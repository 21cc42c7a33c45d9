package import Catalog
package import JSON

extension ManualOrderOutcome {
    /// The outcome in the API's format.
    package var json: [UInt8] {
        JSONWriter.object { json in
            json.field("version", version)
            json.field("order_version", orderVersion)
            json.field("change", change)
            json.object("diff") { json in
                json.field("from_version", fromVersion)
                json.field("to_version", version)
                json.field("mode", DiffMode.moves.rawValue)
                Self.write(moved, to: &json)
            }
        }
    }

    /// Writes the members of a diff in neighbour form.
    static func write(_ moved: [Moved], to json: inout JSONWriter) {
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

extension ManualOrderOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let version = try reader.integer("version"), let orderVersion = try reader.integer("order_version"),
                let diff = reader.value("diff"), let moved = try Self.moved(diff)
            else { return nil }
            var diffReader = try BodyReader(diff)
            guard let fromVersion = try diffReader.integer("from_version") else { return nil }
            return ManualOrderOutcome(
                fromVersion: fromVersion,
                version: version,
                orderVersion: orderVersion,
                moved: moved,
                change: try reader.integer("change")
            )
        }
    }

    /// Parses the moves of a diff in neighbour form; nil without a diff.
    static func moved(_ diff: JSONValue?) throws(CatalogError) -> [Moved]? {
        guard case .array(let moves)? = diff?["moves"] else { return nil }
        var moved: [Moved] = []
        for move in moves {
            var reader = try BodyReader(move)
            guard let id = try reader.string("id", bytes: 1024) else { return nil }
            moved.append(
                Moved(
                    id: id,
                    after: try reader.string("after", bytes: 1024),
                    from: try reader.integer("from").map { Int($0) },
                    to: try reader.integer("to").map { Int($0) }
                )
            )
        }
        return moved
    }
}

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
