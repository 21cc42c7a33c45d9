import Testing

@testable import aisle

@Suite struct RecentRequestsTests {
    private let start = ContinuousClock.now

    @Test("The summary counts errors and rejections, and its percentiles are at most a tenth too long")
    func summary() throws {
        let requests = RecentRequests()
        for number in 1...100 { requests.add(status: 200, .milliseconds(number), now: start) }
        requests.add(status: 503, .milliseconds(1), now: start)
        requests.add(status: 429, .milliseconds(1), now: start)
        let summary = requests.summary(now: start)
        #expect((summary.count, summary.errors, summary.rateLimited) == (102, 1, 1))
        let (median, slow) = (try #require(summary.median), try #require(summary.percentile99))
        #expect((.milliseconds(49)...(.milliseconds(55))).contains(median))
        #expect((.milliseconds(98)...(.milliseconds(110))).contains(slow))
    }

    @Test("Requests are forgotten after a minute")
    func window() {
        let requests = RecentRequests()
        requests.add(status: 200, .milliseconds(1), now: start)
        #expect(requests.summary(now: start + .seconds(58)).count == 1)
        #expect(requests.summary(now: start + .seconds(61)).count == 0)
        // The slot of an old second is reused.
        requests.add(status: 200, .milliseconds(1), now: start + .seconds(60))
        #expect(requests.summary(now: start + .seconds(61)).count == 1)
    }

    @Test("A summary without requests has no percentiles")
    func empty() {
        #expect(RecentRequests().summary() == RecentRequests.Summary())
    }

    @Test("The longest and the shortest durations are counted, too", arguments: [Duration.zero, .seconds(86_400)])
    func extremes(_ duration: Duration) {
        let requests = RecentRequests()
        requests.add(status: 200, duration, now: start)
        #expect(requests.summary(now: start).median != nil)
    }
}
