import Catalog
import HTTPTypes
import Platform
import Synchronization
import Testing

@testable import CatalogHTTP

/// Deadlines of requests, at times that the tests give.
@Suite(.timeLimit(.minutes(15))) struct RequestDeadlineTests {
    private final class Count: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    private struct Late: Error, Equatable { var name = "late" }

    @Test("A request is cancelled once, at its deadline and not before")
    func cancelsAtTheDeadline() {
        let (start, cancellations) = (ContinuousClock.now, Count())
        let deadline = RequestDeadline(start + .seconds(5), unless: { false })
        deadline.setCancel { cancellations.add() }
        deadline.check(start + .milliseconds(4999))
        #expect(!deadline.isOverdue && cancellations.value == 0)
        for time in [start + .seconds(5), start + .seconds(6)] {
            deadline.check(time)
            #expect(deadline.isOverdue && cancellations.value == 1)
        }
        #expect(deadline.reason == nil)
    }

    @Test("A task that starts after the deadline is cancelled at once")
    func cancelsLateTasks() {
        let (start, cancellations) = (ContinuousClock.now, Count())
        let deadline = RequestDeadline(start, unless: { false })
        deadline.check(start)
        #expect(deadline.isOverdue)
        deadline.setCancel { cancellations.add() }
        #expect(cancellations.value == 1)
    }

    @Test("The request of a client that has disconnected is cancelled, and is not overdue")
    func cancelsAbandonedRequests() {
        let (start, cancellations) = (ContinuousClock.now, Count())
        let deadline = RequestDeadline(start + .seconds(5), unless: { true })
        deadline.setCancel { cancellations.add() }
        #expect(cancellations.value == 0)
        deadline.check(start)
        #expect(cancellations.value == 1 && !deadline.isOverdue)
    }

    @Test("The first reason for a failure stays")
    func firstReasonStays() {
        let deadline = RequestDeadline(.now, unless: { false })
        #expect(deadline.fail(with: Late(name: "one")) as? Late == Late(name: "one"))
        #expect(deadline.fail(with: Late(name: "two")) as? Late == Late(name: "two"))
        #expect(deadline.reason as? Late == Late(name: "one"))
    }

    @Test("Work with its own limit may take longer than the request")
    func ownLimits() async throws {
        let start = ContinuousClock.now
        let deadline = RequestDeadline(start + .seconds(100), unless: { false })
        let isOverdue = try await deadline.withLimit(.seconds(1000), or: Late()) {
            deadline.check(start + .seconds(500))
            return deadline.isOverdue
        }
        #expect(!isOverdue)
        await #expect(throws: Late()) {
            try await deadline.withLimit(.seconds(1000), or: Late()) { deadline.check(start + .seconds(1100)) }
        }
    }

    @Test("Work that counts towards the request ends at the earlier limit")
    func earlierLimit() async {
        let start = ContinuousClock.now
        for (limit, time, isLate) in [(1000, 100, true), (1000, 99, false), (10, 50, true), (10, 9, false)] {
            let deadline = RequestDeadline(start + .seconds(100), unless: { false })
            do {
                try await deadline.withLimit(.seconds(limit), or: Late(), countsTowardsRequest: true) {
                    deadline.check(start + .seconds(time))
                }
                #expect(!isLate, "\(limit) \(time)")
            } catch {
                #expect(isLate && error as? Late == Late(), "\(limit) \(time)")
                #expect(deadline.reason as? Late == Late())
            }
        }
    }

    @Test("After work with its own limit, the request's deadline counts again")
    func deadlineReturns() async throws {
        let start = ContinuousClock.now
        for countsTowardsRequest in [false, true] {
            let deadline = RequestDeadline(start + .seconds(100), unless: { false })
            try await deadline.withLimit(.seconds(1), or: Late(), countsTowardsRequest: countsTowardsRequest) {}
            deadline.check(start + .seconds(99))
            #expect(!deadline.isOverdue)
            // The work took less than a second, by which the deadline may have moved.
            deadline.check(start + .seconds(160))
            #expect(deadline.isOverdue)
        }
    }

    @Test("An error of the work is thrown as it is, and replaced only after the limit")
    func errorsOfTheWork() async {
        struct Broken: Error {}
        let start = ContinuousClock.now
        let deadline = RequestDeadline(start + .seconds(100), unless: { false })
        await #expect(throws: Broken.self) {
            try await deadline.withLimit(.seconds(1), or: Late()) { () async throws -> Void in throw Broken() }
        }
        await #expect(throws: Late()) {
            try await deadline.withLimit(.seconds(1), or: Late()) { () async throws -> Void in
                deadline.check(start + .seconds(90))
                throw Broken()
            }
        }
    }

    // MARK: - The watch

    @Test("Overdue work is cancelled and fails with the given error; other work returns its value")
    func watchCancelsOverdueWork() async throws {
        let watch = DeadlineWatch()
        let value = try await watch.run(within: .seconds(600), or: Late(), unless: { false }) { _ in 7 }
        #expect(value == 7)
        await #expect(throws: Late()) {
            try await watch.run(within: .zero, or: Late(), unless: { false }) { _ in
                try await Task.sleep(for: .seconds(600))
            }
        }
        // The watch starts again for later requests.
        await #expect(throws: Late(name: "again")) {
            try await watch.run(within: .zero, or: Late(name: "again"), unless: { false }) { _ in
                try await Task.sleep(for: .seconds(600))
            }
        }
    }

    @Test("Abandoned work is cancelled, and fails with its own error")
    func watchCancelsAbandonedWork() async {
        let watch = DeadlineWatch()
        await #expect(throws: CancellationError.self) {
            try await watch.run(within: .seconds(600), or: Late(), unless: { true }) { _ in
                try await Task.sleep(for: .seconds(600))
            }
        }
    }

    @Test("A problem of the work is more specific than the timeout, and the reason of the deadline most")
    func errorsHaveAnOrder() async {
        let watch = DeadlineWatch()
        func run(_ failure: any Error & Sendable, _ reason: (any Error & Sendable)?) async -> (any Error)? {
            do {
                try await watch.run(within: .zero, or: Late(), unless: { false }) { deadline async throws -> Void in
                    deadline.check(.now + .seconds(1))
                    if let reason { _ = deadline.fail(with: reason) }
                    throw failure
                }
                return nil
            } catch { return error }
        }
        #expect(await run(CatalogError.unavailable, nil) as? Late == Late())
        #expect((await run(Problem(.conflict, "d"), nil) as? Problem)?.kind == .conflict)
        #expect(await run(Problem(.conflict, "d"), Late(name: "reason")) as? Late == Late(name: "reason"))
    }

    @Test("Work whose task is cancelled ends")
    func cancellationIsPassedOn() async {
        let watch = DeadlineWatch()
        let task = Task {
            try await watch.run(within: .seconds(600), or: Late(), unless: { false }) { _ in
                try await Task.sleep(for: .seconds(600))
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: - Calls

    @Test("A call within a limit has a deadline, and runs for no event loop")
    func callsHaveDeadlines() async throws {
        let call = try Call.sample(.get, "/a")
        #expect(call.deadline == nil)
        let loop = CurrentEventLoop(number: 0, executor: BackgroundExecutor.shared)
        try await TaskContext(eventLoop: loop).run { () async throws -> Void in
            let (hasDeadline, isOnLoop) = try await call.within(.seconds(600)) { call in
                (call.deadline != nil, CurrentEventLoop.value != nil)
            }
            #expect(hasDeadline && !isOnLoop)
        }
    }

    @Test("A call beyond its limit is unavailable, with the limit and when to retry")
    func lateCallsAreUnavailable() async throws {
        let call = try Call.sample(.get, "/a")
        let problem = await #expect(throws: Problem.self) {
            try await call.within(.milliseconds(2)) { _ in try await Task.sleep(for: .seconds(600)) }
        }
        #expect(problem?.kind == .unavailable)
        #expect(problem?.detail == "the request timed out after 0 seconds")
        #expect(problem?.headers[.retryAfter] == "1")
    }

    @Test("A timeout ends the connection if the error would, and a problem is more specific than the timeout")
    func closingErrors() async throws {
        let watch = DeadlineWatch()
        for error in [CatalogError.cancelled, Problem(.forbidden, "no")] as [any Error] {
            let thrown = await #expect(throws: ClosingError.self) {
                try await watch.run(within: .zero, or: Late(), unless: { false }) { deadline async throws -> Void in
                    deadline.check(.now + .seconds(1))
                    throw ClosingError(error: error)
                }
            }
            #expect((thrown?.error is Late) != (error is Problem))
        }
    }
}
