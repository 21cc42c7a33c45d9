import Foundation
import Platform
import Synchronization

/// A server on a real socket that answers each connection as a test says, and keeps what clients send.
final class ScriptedServer: Sendable {
    /// The response of a connection to its request.
    enum Answer: Sendable {
        /// Bytes, after which the connection is closed.
        case bytes(String)
        /// Bytes, after which the connection stays open.
        case begin(String)
    }

    private struct State {
        var answers: [Answer]
        var requests: [[UInt8]] = []
        var open: [Int32] = []
    }

    let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    init(_ answers: [Answer]) throws {
        (listener, port) = try listeningSocket()
        state = Mutex(State(answers: answers))
        try OSThread.start(name: "scripted") { [self] in run() }
    }

    var requests: [String] { state.withLock { $0.requests.map { String(decoding: $0, as: UTF8.self) } } }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Ends the server and its open connections.
    func close() {
        let open = state.withLock { state in
            defer { state.open = [] }
            return state.open
        }
        for connection in open { _ = Foundation.close(connection) }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func run() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else {
                _ = Foundation.close(listener)
                return
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            let request = Self.read(connection)
            let answer = state.withLock { state -> Answer? in
                state.requests.append(request)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            switch answer {
            case .bytes(let text):
                Self.send(text, to: connection)
                _ = Foundation.close(connection)
            case .begin(let text):
                Self.send(text, to: connection)
                state.withLock { $0.open.append(connection) }
            case nil: _ = Foundation.close(connection)
            }
        }
    }

    /// Writes a text, and ignores that a client has gone.
    private static func send(_ text: String, to connection: Int32) {
        _ = text.withCString { Foundation.send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }

    /// Reads a request with its body.
    private static func read(_ connection: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                let field = parts[0].split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
                let length = field.flatMap { Int($0.dropFirst(16)) } ?? 0
                if bytes.count >= parts[0].utf8.count + 4 + length { return bytes }
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}
