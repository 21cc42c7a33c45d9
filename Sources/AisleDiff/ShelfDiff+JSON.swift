extension ShelfDiff: Decodable where Product: Decodable {
    private enum Key: String, CodingKey {
        case fromVersion = "from_version"
        case toVersion = "to_version"
        case oldCount = "old_count"
        case newCount = "new_count"
        case nextCursor = "next_cursor"
        case mode, ids, deletes, inserts, moves, changed
    }

    /// The maximum accepted list length; the service compares lists of up to 200,000 elements.
    private static var countLimit: Int { 1_000_000 }

    private struct Place: Decodable {
        var from: Int32?
        var to: Int32?
    }

    private struct ChangedPlace: Decodable {
        var at: Int32?
        var product: Product?
    }

    private struct InsertPlace: Decodable {
        var id: String
        var to: Int32
        var product: Product?
    }

    /// Reads the service's JSON and ignores unknown members.
    ///
    /// - Throws: `DecodingError`, also for inconsistent parts.
    public init(from decoder: any Decoder) throws {
        let json = try decoder.container(keyedBy: Key.self)
        fromVersion = try json.decodeIfPresent(Int64.self, forKey: .fromVersion)
        toVersion = try json.decodeIfPresent(Int64.self, forKey: .toVersion)
        let cursor = try json.decodeIfPresent(String.self, forKey: .nextCursor)
        nextPage = cursor.map { .cursor($0) } ?? (json.contains(.nextCursor) ? .end : .unknown)
        changedProducts = [:]
        if try json.decodeIfPresent(String.self, forKey: .mode) == "order" {
            content = .order(try json.decode([String].self, forKey: .ids))
            return
        }
        let inserts = try json.decode([InsertPlace].self, forKey: .inserts)
        let changed = try json.decodeIfPresent([ChangedPlace].self, forKey: .changed) ?? []
        func index(_ value: Int32?, _ key: Key) throws -> Int32 {
            guard let value else {
                throw DecodingError.dataCorruptedError(forKey: key, in: json, debugDescription: "missing index")
            }
            return value
        }
        let parts = (
            deletes: try json.decode([Place].self, forKey: .deletes).map { try index($0.from, .deletes) },
            moves: try json.decode([Place].self, forKey: .moves).map {
                MoveDiff.Move(from: try index($0.from, .moves), to: try index($0.to, .moves))
            },
            changed: try changed.map { try index($0.at, .changed) }
        )
        let (oldCount, newCount) = (
            try json.decode(Int.self, forKey: .oldCount), try json.decode(Int.self, forKey: .newCount)
        )
        // Limit the counts, because the reader allocates memory for them.
        guard (0...Self.countLimit).contains(oldCount), (0...Self.countLimit).contains(newCount) else {
            throw DecodingError.dataCorruptedError(
                forKey: .oldCount,
                in: json,
                debugDescription: "the list exceeds \(Self.countLimit) elements"
            )
        }
        do throws(MoveDiff.Flaw) {
            let diff = try MoveDiff(
                oldCount: oldCount,
                newCount: newCount,
                deletes: parts.deletes,
                inserts: inserts.map(\.to),
                moves: parts.moves,
                changed: parts.changed
            )
            content = .moves(diff, inserts: inserts.map { Insert(id: $0.id, product: $0.product) })
            for (index, place) in zip(parts.changed, changed) { changedProducts[index] = place.product }
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "invalid diff: \(error)")
            )
        }
    }
}
