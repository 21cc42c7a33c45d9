package import Catalog

extension ListOutcome {
    /// The most bytes of what devices are told of a change; of a larger one they are told to read the list.
    private static let eventLimit = 32 << 10

    /// As other devices and members are told, without what is the caller's own, and without products.
    package var event: [UInt8] {
        if isBroughtBack { return held.list.announcement }
        let whole = json(isEvent: true)
        return whole.count > Self.eventLimit ? held.list.announcement : whole
    }

    /// What the change did: the items that changed, and the way from what was shown to what is; the order whole, where what was
    /// shown is not sure.
    package var json: [UInt8] { json(isEvent: false) }

    private func json(isEvent: Bool, day: Int = Timestamp.now().day) -> [UInt8] {
        let ids = new.map(\.id.text)
        let before = Set(old)
        let content = new.indices.filter { edited.contains(new[$0].id) && before.contains(ids[$0]) }
        let diff = try? OrderDiff(
            old: old,
            new: ids,
            mode: isOldSure ? .moves : .order,
            fromVersion: fromVersion,
            toVersion: held.list.version
        ).with([], changed: content.map { Int32($0) })
        var json = JSONText(reserving: 600 + 600 * changed.count)
        json.object { json in
            if isEvent {
                held.list.writeHead(to: &json)
            } else {
                json.key("list")
                held.write(to: &json)
            }
            // Where others went, the diff alone says.
            let told = isEvent ? edited : edited.union(named)
            let items = held.list.items.filter { told.contains($0.id) }.sorted { $0.key < $1.key }
            json.array("items", items) { $1.write(facts, withProduct: !isEvent, day: day, to: &$0) }
            if !missing.isEmpty { json.array("missing", missing) { $0.string($1.text) } }
            json.field("version", held.list.version)
            if let diff { json.field("diff", json: String(decoding: diff.json(), as: UTF8.self)) }
        }
        return json.bytes
    }
}

extension ListOutcome {
    /// The outcome as its user gets it. It is new if an item changed: items that were there already stay as they are.
    package var document: ListDocument { ListDocument(json: json, isNew: !changed.isEmpty) }
}
