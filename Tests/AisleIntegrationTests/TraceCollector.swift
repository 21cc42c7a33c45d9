import JSON
import Catalog
import CatalogJSON
import Foundation
import Platform
import Synchronization

/// A small OTLP collector on a real socket, one request per connection.
final class TraceCollector: Sendable {
    /// The answer to a request.
    enum Answer: Sendable {
        case accept
        case unavailable(retryAfter: Int)
        /// No answer; the connection stays open.
        case silence
    }

    struct Span: Sendable, Equatable {
        let name: String
        let trace: String
        let id: String
        let parent: String?
        let kind: Int
        let start: UInt64
        let end: UInt64
        let attributes: [String: String]

        /// Whether another span's time includes this one's.
        func isWithin(_ other: Span) -> Bool { other.start <= start && start <= end && end <= other.end }
    }

    private struct State {
        var answers: [Answer] = []
        var fallback = Answer.accept
        var requests: [String] = []
        var spans: [Span] = []
        var silent: [Int32] = []
        var isClosed = false
    }

    let port: Int
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameters:
    ///   - answers: the answers to the first requests.
    ///   - fallback: the answer to all others.
    init(_ answers: [Answer] = [], then fallback: Answer = .accept) throws {
        (listener, port) = try listeningSocket()
        state.withLock { ($0.answers, $0.fallback) = (answers, fallback) }
        try OSThread.start(name: "collector") { [self] in run() }
    }

    var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The heads of the requests so far.
    var requests: [String] { state.withLock { $0.requests } }
    /// The spans that were accepted.
    var spans: [Span] { state.withLock { $0.spans } }

    /// Waits until the accepted spans have a property; returns false after two minutes.
    func wait(until isMet: ([Span]) -> Bool) async throws -> Bool {
        let limit = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < limit {
            if isMet(spans) { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    func close() {
        let silent = state.withLock { state in
            state.isClosed = true
            defer { state.silent = [] }
            return state.silent
        }
        for descriptor in silent { _ = Foundation.close(descriptor) }
        // The thread closes the listener. If it were closed here, the thread could accept connections of another test, whose socket has the same number.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func run() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                if errno == EINTR, !state.withLock({ $0.isClosed }) { continue }
                _ = Foundation.close(listener)
                return
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            serve(connection)
        }
    }

    private func serve(_ connection: Int32) {
        guard let (head, body) = read(connection) else { return _ = Foundation.close(connection) }
        let answer = state.withLock { state in
            state.requests.append(head)
            return state.answers.isEmpty ? state.fallback : state.answers.removeFirst()
        }
        let response: String
        switch answer {
        case .accept:
            let spans = Self.spans(body)
            state.withLock { $0.spans += spans }
            response =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        case .unavailable(let seconds):
            response =
                "HTTP/1.1 503 Service Unavailable\r\nRetry-After: \(seconds)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        case .silence: return state.withLock { $0.silent.append(connection) }
        }
        _ = response.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        _ = Foundation.close(connection)
    }

    /// Returns the head and the body of a request; nil if the connection ends or is idle for ten seconds.
    private func read(_ connection: Int32) -> (head: String, body: [UInt8])? {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var head: String?
        var total = Int.max
        while bytes.count < total {
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
            guard head == nil, let end = Self.endOfHead(bytes) else { continue }
            let text = String(decoding: bytes[..<end], as: UTF8.self)
            head = text
            let field = text.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            total = end + (field.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0)
        }
        return head.map { ($0, Array(bytes.dropFirst($0.utf8.count))) }
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { Array(bytes[$0..<($0 + 4)]) == mark }.map { $0 + 4 }
    }

    // MARK: - OTLP

    private static func items(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let items)? = value { items } else { [] }
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { value?.text }
    }

    private static func spans(_ body: [UInt8]) -> [Span] {
        guard let request = try? JSONReader.parse(body) else { return [] }
        return items(request["resourceSpans"]).flatMap { items($0["scopeSpans"]) }.flatMap { items($0["spans"]) }.map {
            span in
            var attributes: [String: String] = [:]
            for attribute in items(span["attributes"]) {
                guard case .object(let members)? = attribute["value"] else { continue }
                attributes[text(attribute["key"]) ?? ""] = text(members.first?.value)
            }
            return Span(
                name: text(span["name"]) ?? "",
                trace: text(span["traceId"]) ?? "",
                id: text(span["spanId"]) ?? "",
                parent: text(span["parentSpanId"]),
                kind: Int(span["kind"]?.text ?? "") ?? 0,
                start: UInt64(text(span["startTimeUnixNano"]) ?? "") ?? 0,
                end: UInt64(text(span["endTimeUnixNano"]) ?? "") ?? 0,
                attributes: attributes
            )
        }
    }
}
