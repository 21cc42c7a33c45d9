/// A change of a shelf's manual order that is remembered.
package struct OrderChange: Sendable, Hashable {
    /// How many products of a change are listed.
    package static let shownLimit = 5
    /// How many changes are remembered: those that can be taken back, and as many undos.
    package static let memoryLimit = 2 * OrderEdit.historyLimit

    package var number: Int64
    package var at: Timestamp
    package var subject: String?
    /// `move`, `set`, `bake` or `undo`.
    package var kind: String
    /// How many products moved, and the first few of them.
    package var count: Int
    package var ids: [String]
    package var undoes: Int64?
    package var undoneBy: Int64?

    package init(
        number: Int64,
        at: Timestamp,
        subject: String?,
        kind: String,
        count: Int,
        ids: [String],
        undoes: Int64? = nil,
        undoneBy: Int64? = nil
    ) {
        self.number = number
        self.at = at
        self.subject = subject
        self.kind = kind
        self.count = count
        self.ids = Array(ids.prefix(Self.shownLimit))
        self.undoes = undoes
        self.undoneBy = undoneBy
    }
}

extension [OrderChange] {
    /// The change that an undo takes back, of changes from the latest on.
    ///
    /// Without a number it is the last that stands and is no undo itself. A change that is named must be the last that
    /// stands, an undo among them: taking an undo back does its change again.
    ///
    /// - Throws: `conflict`.
    package func undone(by number: Int64?) throws(CatalogError) -> OrderChange {
        guard let number else {
            guard let last = first(where: { $0.undoneBy == nil && $0.kind != "undo" }) else {
                throw .conflict("there is no change to take back; the last \(OrderEdit.historyLimit) are remembered")
            }
            return last
        }
        guard let change = first(where: { $0.number == number }) else {
            throw .conflict("change \(number) is not among the last \(OrderEdit.historyLimit)")
        }
        guard change.undoneBy == nil else { throw .conflict("change \(number) was taken back already") }
        // A change and the undo that took it back cancel out, and so do an undo and what took that one back.
        let later = prefix { $0.number != number }.first { later in
            guard later.undoneBy == nil else { return false }
            guard later.kind == "undo" else { return true }
            return change.kind == "undo" && !isUndo(later.undoes, after: change)
        }
        guard later == nil else {
            throw .conflict("change \(later!.number) was made after it; take that one back first")
        }
        return change
    }

    private func isUndo(_ number: Int64?, after change: OrderChange) -> Bool {
        contains { $0.number == number && $0.kind == "undo" && $0.number > change.number }
    }

    /// What stands and what does not, once a change was taken back by another: the changes whose mark turns.
    ///
    /// An undo that is taken back makes its change stand again; a redo that is taken back makes its undo stand again; and so on.
    package func marks(undoing change: OrderChange, by number: Int64) -> [(number: Int64, undoneBy: Int64?)] {
        var marks: [(number: Int64, undoneBy: Int64?)] = [(change.number, number)]
        var turned = change
        var stands = false
        while turned.kind == "undo", let target = first(where: { $0.number == turned.undoes }),
            target.number < turned.number
        {
            stands.toggle()
            marks.append((target.number, stands ? nil : turned.number))
            turned = target
        }
        return marks
    }
}
