/// A recorded change to a shelf's manual order.
package struct OrderChange: Sendable, Hashable {
    /// The maximum number of products listed per change.
    package static let shownLimit = 5
    /// The number of recorded changes: those that can be undone, and as many undos.
    package static let retentionLimit = 2 * ManualOrderEdit.historyLimit

    /// The kind of an edit, by its name in the API and the database.
    package enum Kind: String, CaseIterable, Sendable, Hashable {
        case move, set
        case snapshot = "bake"
        case undo
    }

    /// A moved product with its left neighbours before and after the change; nil for the front.
    package struct Move: Sendable, Hashable {
        package var id: String
        package var fromAfter: String?
        package var toAfter: String?

        package init(id: String, fromAfter: String?, toAfter: String?) {
            self.id = id
            self.fromAfter = fromAfter
            self.toAfter = toAfter
        }

        /// Returns the moves of products with their left neighbours before and after a change; nil at the front.
        package static func list(
            _ lefts: [(id: String, left: String?)],
            _ afters: [(id: String, after: String?)]
        ) -> [Move] {
            let afters = Dictionary(afters.map { ($0.id, $0.after) }) { first, _ in first }
            return lefts.map { Move(id: $0.id, fromAfter: $0.left, toAfter: afters[$0.id] ?? nil) }
        }
    }

    package var number: Int64
    package var at: Timestamp
    package var subject: String?
    package var kind: Kind
    /// The number of products that moved, and the first few of them.
    package var count: Int
    package var ids: [String]
    /// Where those products came from and went to; empty for changes that were recorded without it.
    package var moves: [Move]
    package var undoes: Int64?
    package var undoneBy: Int64?

    package init(
        number: Int64,
        at: Timestamp,
        subject: String?,
        kind: Kind,
        count: Int,
        ids: [String],
        moves: [Move] = [],
        undoes: Int64? = nil,
        undoneBy: Int64? = nil
    ) {
        self.number = number
        self.at = at
        self.subject = subject
        self.kind = kind
        self.count = count
        self.ids = Array(ids.prefix(Self.shownLimit))
        self.moves = Array(moves.prefix(Self.shownLimit))
        self.undoes = undoes
        self.undoneBy = undoneBy
    }
}

extension [OrderChange] {
    /// Returns the change that an undo reverts. The changes are ordered from the latest.
    ///
    /// Without a number it is the last change in effect that is not an undo. A given change must be the last one in
    /// effect, undos included: undoing an undo redoes its change.
    ///
    /// - Throws: `conflict`.
    package func undone(by number: Int64?) throws(CatalogError) -> OrderChange {
        guard let number else {
            guard let last = first(where: { $0.undoneBy == nil && $0.kind != .undo }) else {
                throw .conflict("nothing to undo; only the last \(ManualOrderEdit.historyLimit) changes can be undone")
            }
            return last
        }
        guard let change = first(where: { $0.number == number }) else {
            throw .conflict(
                "change \(number) does not exist or is no longer recorded; use one of the latest \(OrderChange.retentionLimit) changes in the history"
            )
        }
        guard change.undoneBy == nil else { throw .conflict("change \(number) was already undone") }
        // A change and its undo cancel out, and so do an undo and its redo.
        let later = prefix { $0.number != number }.first { later in
            guard later.undoneBy == nil else { return false }
            guard later.kind == .undo else { return true }
            return change.kind == .undo && !isUndo(later.undoes, after: change)
        }
        guard later == nil else {
            throw .conflict("change \(later!.number) is more recent; undo it first")
        }
        return change
    }

    private func isUndo(_ number: Int64?, after change: OrderChange) -> Bool {
        contains { $0.number == number && $0.kind == .undo && $0.number > change.number }
    }

    /// Returns the changes whose `undoneBy` mark flips when another change undoes this one.
    ///
    /// Undoing an undo puts its change back in effect; undoing a redo puts its undo back in effect; and so on.
    package func undoMarks(undoing change: OrderChange, by number: Int64) -> [(number: Int64, undoneBy: Int64?)] {
        var undoMarks: [(number: Int64, undoneBy: Int64?)] = [(change.number, number)]
        var current = change
        var isInEffect = false
        while current.kind == .undo, let target = first(where: { $0.number == current.undoes }),
            target.number < current.number
        {
            isInEffect.toggle()
            undoMarks.append((target.number, isInEffect ? nil : current.number))
            current = target
        }
        return undoMarks
    }
}
