import Catalog
import Testing

@testable import CatalogPostgres

/// The division of topics among notifications.
@Suite(.timeLimit(.minutes(15))) struct AnnouncedPayloadTests {
    @Test("A notification has as many topics as fit into 7,000 bytes, each once")
    func divides() {
        // A line has 17 bytes: 388 of them take 6,983 bytes, and the next one would need 7,001.
        for count in [387, 388, 389, 776, 777] {
            let users = (0..<count).map { UserID("user-" + String(10_000_000_000 + $0))! }
            let payloads = ChangeAnnouncer.payloads(Set(users.map { .user($0) }))
            var rest = count
            for payload in payloads {
                let lines = payload.split(separator: "\n")
                #expect(lines.count == min(388, rest), "\(count)")
                rest -= lines.count
            }
            #expect(rest == 0)
            #expect(Set(payloads.flatMap { $0.split(separator: "\n") }) == Set(users.map { "u\($0.text)" }))
        }
    }

    @Test("Each kind of topic is read as it was written")
    func kinds() {
        let topics: [ChangeTopic] = [.user(UserID("s")!), .store(CatalogKey("u")!), .all]
        for topic in topics {
            let payloads = ChangeAnnouncer.payloads([topic])
            #expect(payloads.count == 1)
            #expect(ChangeAnnouncer.topics(payloads[0]) == [topic])
        }
    }
}
