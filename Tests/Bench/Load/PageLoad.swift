internal import ArgumentParser
internal import Foundation
internal import Histogram
internal import NIOCore
internal import NIOPosix

/// Sends GET requests, and prints their rate and latencies as JSON.
@main struct PageLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send GET requests, and print their rate and latencies as JSON."
    )

    @Option(help: "The port on 127.0.0.1.") var port: Int
    @Option(help: "A file with one path per line, from the most to the least popular.") var paths: String
    @Option(help: "The exponent of the popularity.") var skew = 1.1
    @Option(help: "The seed of the random order.") var seed: UInt64 = 1
    @Option(help: "The number of connections.") var connections = 32
    @Option(help: "The duration in seconds, without the warm-up.") var seconds = 5.0
    @Option(help: "The duration in seconds before latencies are recorded.") var warmUp = 1.0
    @Option(
        help:
            "Requests per second, sent at fixed times whether the server keeps up or not; without it, each connection sends the next request after a response."
    )
    var rate: Double?
    @Option(help: "A header line. May be repeated.") var header: [String] = []

    func run() async throws {
        let lines = try String(contentsOfFile: paths, encoding: .utf8).split(separator: "\n").map(String.init)
        let mix = RequestMix(paths: lines, headers: header, skew: skew, seed: seed)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (count, port, warmUp, rate) = (connections, port, warmUp, rate)
        let loop = group.next()
        let run = try await loop.submit {
            NIOLoopBound(LoadRun(loop, mix, rate: rate, warmUp: .nanoseconds(Int64(warmUp * 1e9))), eventLoop: loop)
        }.get()
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LoadConnection(run.value, channel))
                }
            }
        var opened: [any Channel] = []
        // A server's backlog is limited.
        for start in stride(from: 0, to: count, by: 100) {
            let futures = (start..<min(count, start + 100)).map { _ in bootstrap.connect(host: "127.0.0.1", port: port)
            }
            for future in futures { opened.append(try await future.get()) }
        }
        let channels = opened
        let before = Self.processorTime()
        try await loop.submit {
            run.value.begin(try channels.map { try $0.pipeline.syncOperations.handler(type: LoadConnection.self) })
        }.get()
        try await Task.sleep(for: .seconds(warmUp + seconds))
        let used = Self.processorTime() - before
        let report = try await loop.submit {
            run.value.end(); return Report(run.value, self.seconds, used)
        }.get()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
        try await group.shutdownGracefully()
    }

    /// The processor time of this process in seconds.
    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }
}

/// The result of a run; times are in microseconds.
private struct Report: Encodable, Sendable {
    let requests: UInt64
    let rate: Double
    let statuses: [String: Int]
    /// Requests that were due but not answered at the end.
    let unanswered: Int
    /// The connections that the server closed.
    let lost: Int
    /// The number of responses, including the warm-up.
    let completed: Int
    let p50, p99, p999, max: UInt64
    /// The processor time of the load generator per request, including the warm-up.
    let generator: Double

    init(_ run: LoadRun, _ seconds: Double, _ processorTime: Double) {
        requests = run.latencies.totalCount
        rate = Double(requests) / seconds
        statuses = Dictionary(uniqueKeysWithValues: run.statuses.map { ("\($0)", $1) })
        unanswered = run.unanswered
        completed = run.completed
        lost = run.lost
        p50 = run.latencies.valueAtPercentile(50)
        p99 = run.latencies.valueAtPercentile(99)
        p999 = run.latencies.valueAtPercentile(99.9)
        max = run.latencies.max
        generator = processorTime * 1e6 / Double(Swift.max(1, run.completed))
    }
}
