package import Catalog
internal import JSON

extension ListOutcome {
    /// The maximum size of a change event, in bytes; for a larger one, devices reread the list.
    private static let eventLimit = 32 << 10

    /// The event for other devices and members, without the caller's own fields and without products.
    var event: [UInt8] {
        if isRestored { return membership.list.announcement }
        let whole = json(isEvent: true)
        return whole.count > Self.eventLimit ? membership.list.announcement : whole
    }

    /// The response: the changed items, and the diff from the previous to the current order. If the previous order
    /// is uncertain, the diff is the whole order.
    package var json: [UInt8] { json(isEvent: false) }

    private func json(isEvent: Bool, day: Int = Timestamp.now().day) -> [UInt8] {
        let ids = new.map(\.id.text)
        let content = new.indices.filter { edited.contains(new[$0].id) }
        let diff = try? OrderDiff(
            old: old,
            new: ids,
            mode: isOldOrderExact ? .moves : .order,
            fromVersion: fromVersion,
            toVersion: membership.list.version
        ).with([], changed: content.map { Int32($0) })
        return JSONWriter.object { json in
            if isEvent {
                membership.list.writeHead(to: &json)
            } else {
                json.key("list")
                membership.write(to: &json)
            }
            // Items that only moved appear in the diff alone.
            let included = isEvent ? edited : edited.union(requestedIDs)
            let items = membership.list.items.filter { included.contains($0.id) }.sorted { $0.key < $1.key }
            json.array("items", items) { $1.write(facts, withProduct: !isEvent, day: day, to: &$0) }
            if !missing.isEmpty { json.array("missing", missing) { $0.string($1.text) } }
            json.field("version", membership.list.version)
            if let diff { json.field("diff", json: String(decoding: diff.json(), as: UTF8.self)) }
        }
    }
}

extension ListDocument: RecordableOutcome {
    /// The response. A change is new if an item changed; existing items are not changed.
    package var recorded: RecordedResponse {
        switch self {
        case .list(let membership, let isNew): RecordedResponse(isNew: isNew, body: membership.json)
        case .change(let outcome): RecordedResponse(isNew: !outcome.changed.isEmpty, body: outcome.json)
        case .first(let response): response
        }
    }

    package init(recorded: RecordedResponse) { self = .first(recorded) }

    package mutating func record() -> RecordedResponse {
        let record = recorded
        self = .first(record)
        return record
    }
}

extension ListMoveOutcome {
    package var json: [UInt8] {
        JSONWriter.object { json in
            json.field("revision", revision)
            json.object("diff") { ManualOrderOutcome.write(moved, to: &$0) }
        }
    }
}

extension ListMoveOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let revision = try reader.integer("revision"),
                let moved = try ManualOrderOutcome.moved(reader.value("diff"))
            else { return nil }
            return ListMoveOutcome(revision: revision, moved: moved)
        }
    }
}
