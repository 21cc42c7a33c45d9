import Catalog
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import CatalogHTTP

/// Bodies that arrive in pieces, at times that the tests give.
@Suite(.timeLimit(.minutes(15))) struct BodyArrivalTests {
    private struct Broken: Error {}

    /// Returns a body of pieces.
    ///
    /// - Parameters:
    ///   - failure: the error after the pieces; nil for a complete body.
    ///   - onRead: called before each piece.
    private static func body(
        _ pieces: [String],
        failure: (any Error)? = nil,
        onRead: @escaping @Sendable () -> Void = {}
    ) -> RequestBody {
        let next = Next()
        return RequestBody(
            asyncSequence: AsyncThrowingStream<ByteBuffer, any Error> {
                onRead()
                let index = next.take()
                if index < pieces.count { return ByteBuffer(string: pieces[index]) }
                if let failure { throw failure }
                return nil
            }
        )
    }

    private final class Next: Sendable {
        private let count = Atomic(0)
        func take() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    @Test(
        "A body may take 20 seconds, and a second more for each 128 KiB that are announced or possible",
        arguments: [
            ([:], 20), (["Content-Length": "131071"], 20), (["Content-Length": "131072"], 21),
            (["Content-Length": "1048576"], 28), (["Transfer-Encoding": "chunked"], 28),
        ] as [([String: String], Int)]
    )
    func timeouts(headers: [String: String], seconds: Int) async throws {
        for (offset, isLate) in [(-1, false), (1, true)] {
            let start = ContinuousClock.now
            let deadline = RequestDeadline(start + .seconds(1), unless: { false })
            var call = try Call.sample(
                .post,
                "/a",
                headers,
                stream: Self.body(["abc"]) { deadline.check(start + .seconds(seconds + offset)) }
            )
            call.deadline = deadline
            let loader = BodyLoader(limit: 1 << 20, timeout: .seconds(20))
            do {
                let bytes = try await loader.bytes(call, types: nil, limit: 1 << 20)
                #expect(!isLate && bytes == Array("abc".utf8))
            } catch {
                #expect(isLate && (error as? Problem)?.kind == .payloadTimeout)
                #expect((deadline.reason as? Problem)?.kind == .payloadTimeout)
            }
        }
    }

    @Test("The errors of a body that breaks off are the client's, and others stay what they are")
    func brokenBodies() async throws {
        let loader = BodyLoader(limit: 100, timeout: .seconds(20))
        func read(_ failure: any Error) async throws -> [UInt8] {
            let call = try Call.sample(.post, "/a", stream: Self.body(["abc"], failure: failure))
            return try await loader.bytes(call, types: nil, limit: 100)
        }
        await #expect(throws: BodyLoader.incomplete) { _ = try await read(Broken()) }
        await #expect(throws: CatalogError.readOnly) { _ = try await read(CatalogError.readOnly) }
        await #expect(throws: CancellationError.self) { _ = try await read(CancellationError()) }
        let problem = await #expect(throws: Problem.self) { _ = try await read(Problem(.conflict, "d")) }
        #expect(problem?.kind == .conflict)
    }

    @Test("The pieces of a body are counted as they arrive, and the limit holds for their sum")
    func pieces() async throws {
        var options = CatalogAPI.Options()
        options.bodyMemoryLimit = 800
        let admission = Admission(options)
        let loader = BodyLoader(limit: 100, timeout: .seconds(20))
        var call = try Call.sample(.post, "/a", stream: Self.body(["abc", "", "defg"]))
        call.bodyPermit = try admission.body(for: .local)
        #expect(try await loader.bytes(call, types: nil, limit: 7) == Array("abcdefg".utf8))
        #expect(admission.bodyBytes.amount == 7)
        call = try Call.sample(.post, "/a", stream: Self.body(["abc", "defg"]))
        let large = call
        let problem = await #expect(throws: Problem.self) { _ = try await loader.bytes(large, types: nil, limit: 6) }
        #expect(problem?.kind == .tooLarge)
        #expect(admission.bodyBytes.amount == 0)
    }

    // MARK: - Imports

    private static func chunks(
        _ body: RequestBody,
        minimumRate: Int = 0,
        grace: Duration = .zero,
        deadline: RequestDeadline? = nil
    ) throws -> BodyChunks {
        var call = try Call.sample(.post, "/a")
        call.deadline = deadline
        var pace = ImportPace()
        pace.minimumRate = minimumRate
        pace.gracePeriod = grace
        return BodyChunks(body, of: call, pace: pace)
    }

    @Test("The chunks of a file arrive in order, and are hashed")
    func chunksAreHashed() async throws {
        let chunks = try Self.chunks(Self.body(["abc", "defg"]))
        var all: [[UInt8]] = []
        for try await chunk in chunks { all.append(chunk) }
        #expect(all == [Array("abc".utf8), Array("defg".utf8)])
        #expect(chunks.digest == Array(SHA256.hash(data: Array("abcdefg".utf8))))
        // The only iterator is taken.
        for try await _ in chunks { Issue.record("a body was read twice") }
    }

    @Test("A body that is discarded has no chunks")
    func discardedChunks() async throws {
        let chunks = try Self.chunks(Self.body(["abc"]))
        chunks.discard()
        for try await _ in chunks { Issue.record("a discarded body was read") }
        #expect(chunks.digest == Array(SHA256.hash(data: [UInt8]())))
    }

    @Test("After the grace period, a file that arrives more slowly than its rate has timed out")
    func slowFiles() async throws {
        for (rate, grace, isLate) in [
            (Int.max, Duration.zero, true), (.max, .seconds(600), false), (0, .zero, false),
        ] {
            let deadline = RequestDeadline(.now + .seconds(600), unless: { false })
            for deadline in [deadline, nil] {
                let chunks = try Self.chunks(Self.body(["abc"]), minimumRate: rate, grace: grace, deadline: deadline)
                do {
                    for try await chunk in chunks { #expect(chunk == Array("abc".utf8)) }
                    #expect(!isLate)
                } catch {
                    #expect(isLate && (error as? Problem)?.kind == .payloadTimeout)
                    #expect(deadline == nil || (deadline?.reason as? Problem)?.kind == .payloadTimeout)
                }
            }
        }
    }

    @Test("A pause longer than the grace period is a timeout, and the whole import has its own limit")
    func pauses() async throws {
        for (limit, pause, isLate) in [(600, 9, false), (600, 11, true), (5, 6, true), (5, 4, false)] {
            let start = ContinuousClock.now
            let deadline = RequestDeadline(start + .seconds(limit), unless: { false })
            let body = Self.body(["abc"]) { deadline.check(start + .seconds(pause)) }
            let chunks = try Self.chunks(body, grace: .seconds(10), deadline: deadline)
            do {
                for try await _ in chunks {}
                #expect(!isLate, "\(limit) \(pause)")
            } catch {
                #expect(isLate && (error as? Problem)?.kind == .payloadTimeout, "\(limit) \(pause)")
            }
        }
    }

    @Test("A file that breaks off is incomplete, and a problem stays what it is")
    func brokenFiles() async throws {
        func read(_ failure: any Error) async throws {
            for try await _ in try Self.chunks(Self.body(["abc"], failure: failure)) {}
        }
        await #expect(throws: BodyLoader.incomplete) { try await read(Broken()) }
        await #expect(throws: CancellationError.self) { try await read(CancellationError()) }
        let problem = await #expect(throws: Problem.self) { try await read(Problem(.conflict, "d")) }
        #expect(problem?.kind == .conflict)
    }
}
