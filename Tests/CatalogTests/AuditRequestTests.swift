import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct AuditRequestTests {
    private static let store = CatalogKey("s")!

    private static func entry(at: Int64, actor: String = "ann", subject: String? = "milk") -> AuditEntry {
        AuditEntry(
            id: .random(),
            at: Timestamp(microseconds: at),
            origin: ChangeOrigin(source: .api, actor: actor),
            action: AuditAction.pricesSet.rawValue,
            subject: subject,
            detail: "{}"
        )
    }

    @Test("A page has one entry fewer than were found, and a cursor, if there are more")
    func pagesContinue() throws {
        var request = AuditRequest(.store(Self.store), limit: 2)
        let entries = [30, 20, 10].map { Self.entry(at: $0) }
        let page = AuditPage(request, found: entries)
        #expect(page.entries.map(\.at.microseconds) == [30, 20])
        request.after = page.next
        let position = try #require(try request.position)
        #expect(position.at.microseconds == 20)
        #expect(position.id == entries[1].id)
        #expect(AuditPage(request, found: [entries[2]]).next == nil)
        #expect(AuditPage(request, found: []).entries.isEmpty)
    }

    @Test("A cursor belongs to its log and conditions")
    func cursorsBelongToConditions() {
        let request = AuditRequest(.store(Self.store), actor: "ann")
        let cursor = request.cursor(after: Self.entry(at: 1))
        var others = [
            AuditRequest(.store(CatalogKey("t")!), actor: "ann"), AuditRequest(.user(UserID("s")!), actor: "ann"),
            AuditRequest(.store(Self.store)), AuditRequest(.store(Self.store), subject: "ann"),
            AuditRequest(.store(Self.store), since: Timestamp(microseconds: 1), actor: "ann"),
            AuditRequest(.store(Self.store), until: Timestamp(microseconds: 1), actor: "ann"),
            AuditRequest(.store(Self.store), action: .pricesSet, actor: "ann"),
        ]
        for index in others.indices {
            others[index].after = cursor
            #expect(throws: CatalogError.invalidCursor) { try others[index].position }
        }
        #expect(Set(others.map(\.scope)).count == others.count)
    }

    @Test("The first time is included, and the last one excluded")
    func conditionsApply() {
        let (since, until) = (Timestamp(microseconds: 10), Timestamp(microseconds: 20))
        let request = AuditRequest(.store(Self.store), since: since, until: until, actor: "ann", subject: "milk")
        #expect([9, 10, 19, 20].map { request.accepts(Self.entry(at: $0)) } == [false, true, true, false])
        #expect(!request.accepts(Self.entry(at: 10, actor: "bob")))
        #expect(!request.accepts(Self.entry(at: 10, subject: nil)))
    }

    @Test("Every action belongs to the log of stores or of users")
    func actionsBelongToOneLog() {
        #expect(Set(AuditAction.ofStores).isDisjoint(with: AuditAction.ofUsers))
        #expect(AuditAction.ofStores.count + AuditAction.ofUsers.count == AuditAction.allCases.count)
    }

    @Test("Entries are kept for the given days or for ever, but not for less than a month")
    func retentionHasLimits() throws {
        #expect(AuditRetention(days: -1) == nil)
        #expect(AuditRetention(days: 1) == nil)
        #expect(AuditRetention(days: AuditRetention.minimumDays - 1) == nil)
        #expect(AuditRetention(days: AuditRetention.maximumDays + 1) == nil)
        #expect(try #require(AuditRetention(days: 0)).days == nil)
        #expect(try #require(AuditRetention(days: 31)).days == 31)
    }

    @Test("The origin of changes is inherited by tasks, but not by detached ones")
    func originIsInherited() async {
        let origin = ChangeOrigin(source: .api, actor: "ann", address: "192.0.2.1")
        #expect(ChangeOrigin.current == .server)
        await origin.run {
            #expect(await Task { ChangeOrigin.current }.value == origin)
            #expect(await Task.detached { ChangeOrigin.current }.value == .server)
        }
        #expect(ChangeOrigin.current == .server)
    }
}
