internal import Histogram
internal import NIOCore

/// The requests of one run and their latencies, on one event loop.
///
/// In an open loop, each request has an intended time, whether the server keeps up or not, and its latency counts from that
/// time. So a server that stalls is charged for all requests that wait meanwhile ("coordinated omission"). Source: Tene,
/// "How NOT to Measure Latency", 2013. In a closed loop, each connection sends its next request after a response.
final class LoadRun {
    private let loop: any EventLoop
    /// The time between two intended requests; nil for a closed loop.
    private let interval: TimeAmount?
    private let warmUp: TimeAmount
    private var mix: RequestMix
    /// The connections without a request, the longest idle first, so that all take turns.
    private var idle = CircularBuffer<LoadConnection>()
    private var connections: [LoadConnection] = []
    private var waiting = CircularBuffer<NIODeadline>()
    private var nextIntended = NIODeadline.now()
    private var start = NIODeadline.now()
    private var isEnding = false

    private(set) var latencies = Histogram<UInt64>(
        highestTrackableValue: 60_000_000,
        numberOfSignificantValueDigits: .three
    )
    private(set) var statuses: [Int: Int] = [:]
    /// The number of responses, including the warm-up.
    private(set) var completed = 0
    /// The requests that were due and not answered when the run ended.
    private(set) var unanswered = 0
    /// The number of connections that the server closed.
    private(set) var lost = 0

    /// - Parameters:
    ///   - rate: the requests per second of an open loop; nil for a closed loop.
    ///   - warmUp: the time at the start whose requests are not recorded.
    init(_ loop: any EventLoop, _ mix: RequestMix, rate: Double?, warmUp: TimeAmount) {
        self.loop = loop
        self.mix = mix
        self.warmUp = warmUp
        interval = rate.map { .nanoseconds(Int64(1e9 / $0)) }
    }

    /// Starts to send requests on all connections.
    func begin(_ connections: [LoadConnection]) {
        start = .now()
        nextIntended = start
        self.connections = connections
        if interval == nil {
            for connection in connections { connection.send(mix.next(), due: .now()) }
        } else {
            idle = CircularBuffer(connections)
            sendDue()
        }
    }

    /// Ends the run. Requests without a response count with the time that they have waited so far.
    func end() {
        isEnding = true
        unanswered = waiting.count + connections.count { $0.due != nil }
        guard interval != nil else { return }
        for due in waiting { record(due) }
        for connection in connections { if let due = connection.due { record(due) } }
    }

    private func record(_ due: NIODeadline) {
        guard due - start >= warmUp else { return }
        latencies.record(UInt64(max(0, (NIODeadline.now() - due).nanoseconds / 1000)))
    }

    /// Counts a connection that the server closed; its request has no response.
    func lose() { if !isEnding { lost += 1 } }

    /// Records a response and sends the connection's next request.
    func complete(_ connection: LoadConnection, status: Int, due: NIODeadline) {
        guard !isEnding else { return }
        completed += 1
        record(due)
        statuses[status, default: 0] += 1
        if interval == nil {
            connection.send(mix.next(), due: .now())
        } else if let next = waiting.popFirst() {
            connection.send(mix.next(), due: next)
        } else {
            idle.append(connection)
        }
    }

    /// The shortest time between two looks for requests that are due.
    private static let tick = TimeAmount.microseconds(200)

    private func sendDue() {
        guard let interval, !isEnding else { return }
        let now = NIODeadline.now()
        while nextIntended <= now {
            if let connection = idle.popFirst() {
                connection.send(mix.next(), due: nextIntended)
            } else {
                waiting.append(nextIntended)
            }
            nextIntended = nextIntended + interval
        }
        // A timer for each request would cost more than the request. Latencies include the time until the timer.
        loop.assumeIsolated().scheduleTask(deadline: max(nextIntended, now + Self.tick)) { self.sendDue() }
    }
}
