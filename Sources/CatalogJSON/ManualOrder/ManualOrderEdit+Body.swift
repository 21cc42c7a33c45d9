package import JSON
package import Catalog

extension ManualOrderEdit {
    /// Parses the moves of a body: `{"moves":[{"ids":["f","b"],"after":"d"}]}`.
    package static func moves(body: JSONValue?) throws(CatalogError) -> ManualOrderEdit {
        .moves(try OrderMove.list(body: body))
    }

    /// Parses a whole order: `{"ids":[…]}`, or `{"from_sort":"price"}`.
    package static func whole(body: JSONValue?) throws(CatalogError) -> ManualOrderEdit {
        var reader = try BodyReader(body ?? .object([]))
        let sort = try reader.sort("from_sort")
        let ids = reader.value("ids") == nil ? nil : try reader.ids("ids")
        try reader.end()
        switch (ids, sort) {
        case (let ids?, nil): return .set(ids)
        case (nil, let sort?): return .snapshot(sort)
        default: throw .malformed(parameter: "ids", detail: "the body must have exactly one of ids and from_sort")
        }
    }

    /// Parses an undo: an empty body for the last change, or `{"change":7}`.
    package static func undo(body: JSONValue?) throws(CatalogError) -> ManualOrderEdit {
        var reader = try BodyReader(body ?? .object([]))
        let change = try reader.integer("change")
        try reader.end()
        return .undo(change: change)
    }
}

extension OrderMove {
    /// Parses the moves of a body.
    package static func list(body: JSONValue?) throws(CatalogError) -> [OrderMove] {
        var reader = try BodyReader(body ?? .object([]))
        guard case .array(let values)? = reader.value("moves") else {
            throw .malformed(parameter: "moves", detail: "moves is required and must be an array of moves")
        }
        try reader.end()
        var moves: [OrderMove] = []
        for (index, value) in values.enumerated() { moves.append(try OrderMove(value, field: "moves[\(index)]")) }
        return moves
    }

    private init(_ value: JSONValue, field: String) throws(CatalogError) {
        var reader = try BodyReader(value, parameter: field, example: #"{"ids":["C1007"],"place":"first"}"#)
        let ids = try reader.ids("ids")
        var targets: [Target] = []
        if let anchor = try reader.string("after", bytes: 256)?.composed { targets.append(.after(anchor)) }
        if let anchor = try reader.string("before", bytes: 256)?.composed { targets.append(.before(anchor)) }
        if let place = try reader.string("place", bytes: 16) {
            switch place {
            case "first": targets.append(.first)
            case "last": targets.append(.last)
            default:
                throw .malformed(parameter: "place", detail: "place must be first or last", allowed: ["first", "last"])
            }
        }
        if let position = try reader.integer("position") { targets.append(.position(Int(clamping: position))) }
        try reader.end()
        guard targets.count == 1 else {
            throw .unprocessable(
                field: "moves",
                detail: "a move must have exactly one of after, before, place and position (got \(targets.count))"
            )
        }
        self.init(ids, targets[0])
    }
}
