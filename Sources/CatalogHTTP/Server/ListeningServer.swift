internal import Glibc
package import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Serves the connections of a listening socket until shutdown, which completes the requests in progress.
package struct ListeningServer<Connection: ServerChildChannel>: Service {
    /// The maximum number of clients that wait to be accepted; Linux lowers it to `net.core.somaxconn`.
    private static var backlog: Int32 { 4096 }

    private let address: ListeningAddress
    private let connection: Connection
    private let connectionLimit: Int
    private let connections: ConnectionCount
    private let logger: Logger
    private let onListening: @Sendable (any Channel) async -> Void

    /// - Parameters:
    ///   - connection: sets up and handles each connection.
    ///   - connectionLimit: the maximum number of open connections; further clients wait.
    ///   - connections: follows the number of open connections.
    ///   - onListening: called once with the listening channel, when clients can connect.
    package init(
        at address: ListeningAddress,
        connection: Connection,
        connectionLimit: Int = .max,
        connections: ConnectionCount = ConnectionCount(),
        logger: Logger,
        onListening: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) {
        self.address = address
        self.connection = connection
        self.connectionLimit = connectionLimit
        self.connections = connections
        self.logger = logger
        self.onListening = onListening
    }

    private enum Event: Sendable {
        case accepted(Connection.Value)
        case cancelled
    }

    /// - Throws: `IOError` if the address cannot be bound; `ListeningSocketClosed` if the socket fails later.
    package func run() async throws {
        let (events, sender) = AsyncStream<Event>.makeStream()
        let group = MultiThreadedEventLoopGroup.singleton
        let channel = try await listen(group) { sender.yield(.accepted($0)) }
        await onListening(channel)
        // A connection that was accepted is always handled, so a cancellation only cancels the handling of requests.
        let serving = Task { await serve(events) }
        let isShutdown = await withTaskCancellationHandler {
            let isShutdown = await isShutDown(before: channel)
            await stop(channel, group)
            // Connections of a socket that failed are not asked to end.
            if !isShutdown { sender.yield(.cancelled) }
            sender.finish()
            await serving.value
            return isShutdown
        } onCancel: {
            sender.yield(.cancelled)
        }
        if !isShutdown { throw ListeningSocketClosed() }
    }

    private func listen(
        _ group: MultiThreadedEventLoopGroup,
        _ accepted: @escaping @Sendable (Connection.Value) -> Void
    ) async throws -> any Channel {
        let (connection, connectionLimit, connections) = (connection, connectionLimit, connections)
        let logger = logger
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // One read accepts one connection, so the gate sees each before the next.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectionGate(limit: connectionLimit, count: connections)
                    )
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { connection.setup(channel: $0, logger: logger).map(accepted) }
        switch address {
        case .host(let host, let port): return try await bootstrap.bind(host: host, port: port).get()
        case .socket(let descriptor):
            let channel = try await bootstrap.withBoundSocket(descriptor).get()
            // NIO has lowered the backlog, which restarts need, to its default.
            _ = Glibc.listen(descriptor, Self.backlog)
            return channel
        }
    }

    private func serve(_ events: AsyncStream<Event>) async {
        let (connection, logger) = (connection, logger)
        await withDiscardingTaskGroup { group in
            for await event in events {
                switch event {
                case .accepted(let value): group.addTask { await connection.handle(value: value, logger: logger) }
                case .cancelled: group.cancelAll()
                }
            }
        }
    }

    /// Returns whether a shutdown or cancellation came before the listening channel was closed.
    private func isShutDown(before channel: any Channel) async -> Bool {
        let (closed, closure) = AsyncStream<Void>.makeStream()
        channel.closeFuture.whenComplete { _ in closure.finish() }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await gracefulShutdown()
                return true
            }
            group.addTask {
                for await _ in closed {}
                return Task.isCancelled
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
    }

    /// Stops accepting, and waits until all connections have ended.
    private func stop(_ channel: any Channel, _ group: MultiThreadedEventLoopGroup) async {
        do {
            try await channel.triggerUserOutboundEvent(ConnectionGate.Shutdown.stopAccepting)
            // NIO would close connections that are set up after the listening channel is closed. Their setup was queued on
            // their event loops before this.
            for loop in group.makeIterator() { try await loop.submit {}.get() }
            try await channel.eventLoop.submit {}.get()
            let ended = channel.eventLoop.makePromise(of: Void.self)
            channel.triggerUserOutboundEvent(ConnectionGate.Shutdown.endConnections, promise: ended)
            // A socket that other processes hold stays open for them, and clients wait in its backlog.
            try await channel.close()
            try await ended.futureResult.get()
        } catch {
            // The listening channel was closed by an error.
            logger.error("cannot stop listening: \(error)")
        }
    }
}

/// The place where a server accepts connections.
package enum ListeningAddress: Sendable, Equatable {
    /// A host and port; port 0 is any free port.
    case host(String, port: Int)
    /// A descriptor of a listening socket that another process, such as systemd, also holds.
    case socket(Int32)
}

/// A listening socket that failed while the server ran.
package struct ListeningSocketClosed: Error, CustomStringConvertible {
    package let description = "the listening socket was closed"
}

/// The draining state of a server that was asked to stop but still serves existing clients.
package final class DrainState: Sendable {
    private let state = Atomic(false)

    package init() {}

    /// Whether the server is draining.
    package var isDraining: Bool { state.load(ordering: .relaxed) }

    /// Starts to drain.
    package func begin() { state.store(true, ordering: .relaxed) }
}

/// The number of open connections of a listening socket.
package final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package var current: Int { count.load(ordering: .relaxed) }

    func set(_ value: Int) { count.store(value, ordering: .relaxed) }
}

extension ListeningServer: CustomStringConvertible {
    /// The name for logs. Without it, a service group would reflect the whole API to describe the server.
    package var description: String { "server at \(address)" }
}
