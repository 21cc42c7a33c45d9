internal import JSON

// The changes of orders, and those by purchases, imports and re-sorts.
extension AuditChange {
    /// Returns an edit of a shelf's manual order.
    ///
    /// - Parameters:
    ///   - moves: the first moved products with their left neighbours before and after the edit; nil for the front.
    ///   - count: the number of all moved products.
    ///   - outcome: with the versions and the number of the change.
    ///   - versionBefore: the order version before the edit.
    package static func order(
        _ request: OrderEditRequest,
        _ moves: [OrderChange.Move],
        of count: Int,
        _ outcome: ManualOrderOutcome,
        from versionBefore: Int64,
        undoes: Int64?
    ) -> AuditChange {
        let action: AuditAction =
            switch request.edit {
            case .moves: .orderMove
            case .set: .orderSet
            case .snapshot: .orderSnapshot
            case .undo: .orderUndo
            }
        var detail: [JSONValue.Member] = [
            .init("from_order_version", .integer(versionBefore)),
            .init("order_version", .integer(outcome.orderVersion)), .init("count", .integer(count)),
            .init(
                "moved",
                .array(
                    moves.prefix(itemLimit).map {
                        .object([
                            .init("id", .string($0.id)), .init("from_after", .text($0.fromAfter)),
                            .init("to_after", .text($0.toAfter)),
                        ])
                    }
                )
            ),
        ]
        if let change = outcome.change { detail.insert(.init("change", .integer(change)), at: 0) }
        if let undoes { detail.append(.init("undoes", .integer(undoes))) }
        if case .snapshot(let sort) = request.edit { detail.append(.init("from_sort", .string(sort.description))) }
        return AuditChange(action, request.shelf.text, detail)
    }

    /// Returns an edit of the order of a store's shelves; nil if nothing moved.
    package static func shelfOrder(_ outcome: ManualOrderOutcome, from versionBefore: Int64) -> AuditChange? {
        guard !outcome.moved.isEmpty else { return nil }
        return AuditChange(
            .shelvesMove,
            nil,
            [
                .init("from_order_version", .integer(versionBefore)),
                .init("order_version", .integer(outcome.orderVersion)),
                .init("count", .integer(outcome.moved.count)),
                .init(
                    "moved",
                    .array(
                        outcome.moved.prefix(itemLimit).map {
                            .object([.init("id", .string($0.id)), .init("to_after", .text($0.after))])
                        }
                    )
                ),
            ]
        )
    }

    /// Returns reported purchases; nil if no event was new.
    package static func purchases(_ outcome: PurchaseOutcome) -> AuditChange? {
        guard outcome.accepted + outcome.unknown > 0 else { return nil }
        return AuditChange(
            .purchasesAdd,
            nil,
            [.init("accepted", .integer(outcome.accepted)), .init("unknown", .integer(outcome.unknown))]
        )
    }

    /// Returns an import or a re-sort with its id and counts; nil if all counts are 0.
    package static func work(
        _ action: AuditAction,
        _ name: String,
        _ id: String,
        _ counts: [(name: String, count: Int)]
    ) -> AuditChange? {
        guard counts.contains(where: { $0.count > 0 }) else { return nil }
        return AuditChange(
            action,
            nil,
            [.init(name, .string(id))] + counts.filter { $0.count > 0 }.map { .init($0.name, .integer($0.count)) }
        )
    }
}
