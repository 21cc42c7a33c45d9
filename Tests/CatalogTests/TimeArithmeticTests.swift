import Glibc
import Testing

@testable import Catalog

/// Times that are computed from other times, to the microsecond.
@Suite(.timeLimit(.minutes(15))) struct TimeArithmeticTests {
    @Test("A second has a million microseconds, and a day has 24 hours")
    func adding() {
        let start = Timestamp(microseconds: 5)
        #expect(start.adding(seconds: 0) == start && start.adding(days: 0) == start)
        #expect(start.adding(seconds: 30).microseconds == 30_000_005)
        #expect(start.adding(seconds: -2).microseconds == -1_999_995)
        #expect(start.adding(days: 30).microseconds == 2_592_000_000_005)
        #expect(start.adding(days: -1).microseconds == -86_399_999_995)
        #expect(Timestamp(rfc3339: "2024-02-28T12:00:00Z")?.adding(days: 2).rfc3339 == "2024-03-01T12:00:00Z")
    }

    @Test("The current time is that of the system clock, to the microsecond")
    func now() {
        func system() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        }
        for _ in 0..<100 {
            let before = system()
            let now = Timestamp.now().microseconds
            let after = system()
            // Another process may set the clock.
            guard before <= after else { continue }
            #expect(before <= now && now <= after)
        }
    }
}
