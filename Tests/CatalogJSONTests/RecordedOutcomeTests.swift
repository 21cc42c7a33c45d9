import Catalog
import CatalogJSON
import Ordering
import Testing

@Suite(.timeLimit(.minutes(15))) struct RecordedOutcomeTests {
    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("A recorded order edit survives encoding and decoding")
    func orderEdits() throws {
        let outcome = ManualOrderOutcome(
            fromVersion: 6,
            version: 8,
            orderVersion: 5,
            moved: [.init(id: "a", after: nil, from: 3, to: 0), .init(id: "é\"", after: "a")],
            change: 4
        )
        let again = try ManualOrderOutcome(recorded: outcome.recorded)
        #expect(text(again.json) == text(outcome.json))
        #expect(again.moved == outcome.moved)
        #expect(again.change == 4)
        let unchanged = ManualOrderOutcome(fromVersion: 8, version: 8, orderVersion: 5, moved: [])
        #expect(text(try ManualOrderOutcome(recorded: unchanged.recorded).json) == text(unchanged.json))
    }

    @Test("The largest recorded order edit survives encoding and decoding")
    func largeOrderEdits() throws {
        let moved = (0..<OrderDiff.listLimit).map { number in
            ManualOrderOutcome.Moved(
                id: "p\(number)",
                after: number > 0 ? "p\(number - 1)" : nil,
                from: number,
                to: number
            )
        }
        let outcome = ManualOrderOutcome(fromVersion: 1, version: 2, orderVersion: 2, moved: moved, change: 1)
        #expect(try ManualOrderOutcome(recorded: outcome.recorded).moved.count == OrderDiff.listLimit)
    }

    @Test("Recorded prices, purchases, merges and list moves survive encoding and decoding")
    func others() throws {
        var prices = PriceOutcome()
        (prices.changed, prices.unchanged) = (3, 4)
        prices.shelves = [CatalogKey("b")!, CatalogKey("a")!]
        #expect(try PriceOutcome(recorded: prices.recorded) == prices)
        var purchases = PurchaseOutcome()
        (purchases.accepted, purchases.repeated, purchases.tooOld, purchases.unknown) = (1, 2, 3, 4)
        purchases.unknownSKUs = ["x", "y"]
        #expect(try PurchaseOutcome(recorded: purchases.recorded) == purchases)
        let merge = GuestMerge(merged: 2, kept: 1, revision: 99)
        #expect(try GuestMerge(recorded: merge.recorded) == merge)
        let moved = ListMoveOutcome(revision: 7, moved: [.init(id: "l", after: "k")])
        #expect(try ListMoveOutcome(recorded: moved.recorded) == moved)
    }

    @Test("A recorded list keeps its bytes and whether it was created")
    func lists() {
        let new = NewList(name: "Week")
        let list = new.list(of: UserID("ann")!, sinksChecked: nil, now: Timestamp(microseconds: 1))
        let membership = ListMembership(list: list, role: .owner, key: .first, revision: 3)
        for isNew in [true, false] {
            let recorded = ListDocument.list(membership, isNew: isNew).recorded
            #expect(recorded == RecordedResponse(isNew: isNew, body: membership.json))
            #expect(ListDocument(recorded: recorded).recorded == recorded)
        }
    }

    @Test("A ticket is recorded without its text")
    func tickets() throws {
        let issued = IssuedTicket(id: .random(), expiresAt: Timestamp(microseconds: 1_700_000_000_000_000))
        #expect(!text(issued.recorded.body).contains("ticket"))
        #expect(try IssuedTicket(recorded: issued.recorded) == issued)
    }

    @Test("A share is recorded without its token")
    func shares() throws {
        let share = ListShare(
            id: .random(),
            role: .editor,
            createdAt: Timestamp(microseconds: 1_700_000_000_000_000),
            expiresAt: Timestamp(microseconds: 1_700_000_100_000_000)
        )
        #expect(!text(share.recorded.body).contains("token"))
        #expect(try ListShare(recorded: share.recorded) == share)
    }

    @Test("A record of another kind is an internal error", arguments: ["", "[]", "{}", "{\"version\":1}", "not JSON"])
    func otherRecords(_ body: String) {
        let recorded = RecordedResponse(body: Array(body.utf8))
        let fault = CatalogError.fault("invalid recorded response")
        #expect(throws: fault) { try ManualOrderOutcome(recorded: recorded) }
        #expect(throws: fault) { try PriceOutcome(recorded: recorded) }
        #expect(throws: fault) { try IssuedTicket(recorded: recorded) }
        #expect(throws: fault) { try ListShare(recorded: recorded) }
        #expect(throws: fault) { try GuestMerge(recorded: recorded) }
    }
}
