import Catalog
import Testing

/// Which change of a manual order an undo reverts.
@Suite(.timeLimit(.minutes(15))) struct OrderChangeTests {
    private func change(
        _ number: Int64,
        _ kind: OrderChange.Kind = .move,
        undoes: Int64? = nil,
        undoneBy: Int64? = nil
    ) -> OrderChange {
        OrderChange(
            number: number,
            at: Timestamp(microseconds: number),
            subject: "ann",
            kind: kind,
            count: 1,
            ids: ["a"],
            undoes: undoes,
            undoneBy: undoneBy
        )
    }

    private func refusal(_ changes: [OrderChange], _ number: Int64?) -> String? {
        do {
            _ = try changes.undone(by: number)
            return nil
        } catch { return "\(error)" }
    }

    @Test("Without a number, an undo reverts the latest change in effect")
    func theLatestChangeIsUndone() throws {
        let changes = [change(4, .undo, undoes: 3), change(3, undoneBy: 4), change(2), change(1)]
        #expect(try changes.undone(by: nil).number == 2)
    }

    @Test("An undo without changes is a conflict")
    func nothingToUndo() {
        #expect(refusal([], nil)?.contains("nothing to undo") == true)
        #expect(
            refusal([change(2, .undo, undoes: 1), change(1, undoneBy: 2)], nil)?.contains("nothing to undo") == true
        )
    }

    @Test("A change that is no longer in the history cannot be undone")
    func anUnknownChangeIsRefused() {
        #expect(refusal([change(2)], 1)?.contains("change 1 does not exist or is no longer recorded") == true)
    }

    @Test("A change cannot be undone twice")
    func anUndoneChangeIsRefused() {
        #expect(refusal([change(2, .undo, undoes: 1), change(1, undoneBy: 2)], 1)?.contains("already") == true)
    }

    @Test("A change that a later one builds on cannot be undone first")
    func laterChangesComeFirst() {
        #expect(refusal([change(2), change(1)], 1)?.contains("change 2") == true)
    }

    @Test("A later change that was undone does not prevent an undo")
    func undoneLaterChangesDoNotCount() throws {
        let changes = [change(3, .undo, undoes: 2), change(2, undoneBy: 3), change(1)]
        #expect(try changes.undone(by: 1).number == 1)
    }

    @Test("Undoing an undo reapplies its change")
    func anUndoIsUndone() throws {
        let changes = [change(2, .undo, undoes: 1), change(1, undoneBy: 2)]
        let undo = try changes.undone(by: 2)
        #expect(undo.number == 2)
        let marks = changes.undoMarks(undoing: undo, by: 3)
        #expect(marks.map(\.number) == [2, 1])
        #expect(marks.map(\.undoneBy) == [3, nil])
    }

    @Test("Undoing a redo flips the marks of the whole chain")
    func aRedoIsUndone() throws {
        let changes = [
            change(3, .undo, undoes: 2), change(2, .undo, undoes: 1, undoneBy: 3), change(1),
        ]
        let redo = try changes.undone(by: 3)
        let marks = changes.undoMarks(undoing: redo, by: 4)
        #expect(marks.map(\.number) == [3, 2, 1])
        #expect(marks.map(\.undoneBy) == [4, nil, 2])
    }
}
