internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import FoundationEssentials
internal import Glibc
internal import HummingbirdCore
internal import LibPQ
internal import Live
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import ServiceLifecycle
internal import Tracing
internal import UnixSignals

/// The composition root of a running server.
struct Server {
    let catalog: PostgresCatalog
    let settings: ServerSettings
    let telemetry: ServerTelemetry
    /// The connection for LISTEN.
    let listenConfiguration: PostgresConfiguration
    let port: Int
    var showsWelcome = false
    var demo: Demo?
    /// The sockets that systemd holds for the server.
    var sockets = ActivationSockets()
    /// Notifies systemd; nil if it did not start the server.
    var notifier: SystemdNotifier?
    private let departures = Departures()

    /// The limits of a connection: 16 KiB of headers, 100 of them, a minute of silence.
    private var channel: HTTP1Channel.Configuration {
        // A client can have a tenth of the connections.
        let limit = settings.rateLimit == nil ? Int.max : max(1, settings.connectionLimit / 10)
        let limiter = ConnectionLimiter(
            limit: limit,
            except: settings.trustedProxies,
            observer: telemetry.http
        )
        var channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                limiter.handler(), StallHandler(), ParserErrorHandler(), departures.handler(),
                QuiescingHandler(),
            ],
            idleTimeout: .seconds(60)
        )
        channel.httpDecoder = .init(maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)
        return channel
    }

    /// Prepares the process before any connection: a broken pipe fails a call, not the process; a crash is logged.
    static func prepareProcess() {
        signal(SIGPIPE, SIG_IGN)
        if (ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] ?? "").isEmpty {
            CrashReport.install(version: Aisle.version)
        }
    }

    /// How long requests in flight may take after shutdown was requested.
    private static let shutdownTimeout: Duration = .seconds(15)

    func run() async throws {
        let tracing = settings.traces.tracing(telemetry.log.logger)
        let apiOptions = settings.apiOptions(demo, tracing?.tracer, departures)
        // Requests get 15 seconds, and a few more to be cancelled.
        let draining = Draining(
            state: apiOptions.drainState,
            delay: settings.drain,
            limit: Self.shutdownTimeout + .seconds(5),
            log: telemetry.log,
            notifier: notifier
        )
        NIOSingletons.groupLoopCountSuggestion = settings.connections.eventLoops
        raiseDescriptorLimit()
        catalog.warmUp()
        let live = LiveHub(
            pages: catalog.pages,
            versions: catalog.versions,
            source: settings.listens ? PostgresChangeSource(listenConfiguration) : nil,
            options: settings.liveOptions(telemetry.feeds)
        )
        let api = CatalogAPI(
            catalog: catalog.storage,
            importer: Importer(catalog),
            key: DeploymentKey(try await deploymentKey()),
            verifier: try await settings.tokens.verifier(),
            live: live,
            options: apiOptions,
            observer: telemetry.http
        )
        let deadline = ContinuousClock.now + Self.readingLimit
        await api.warmUp(await readShelves(), until: deadline)
        ShelfImages(catalog).forgetUse()
        if let warning = try await catalog.database.collationWarning() { telemetry.log.logger.warning("\(warning)") }
        let address = sockets.http.map { .socket($0) } ?? ListeningAddress.host(settings.host, port: port)
        let (notifier, showsWelcome, tokenHint) = (notifier, showsWelcome, settings.tokens.hint)
        let logger = telemetry.log.logger
        let connections = ConnectionCount()
        let server = ListeningServer(
            at: address,
            connection: CatalogChannel(api, channel, logger: logger),
            connectionLimit: settings.connectionLimit,
            connections: connections,
            logger: logger,
            onListening: { [telemetry] channel in
                let location = address.location(channel)
                telemetry.note("Listening on \(location)")
                if showsWelcome {
                    telemetry.note("Pages: / (shop), /merchandise (manual order), /lists (shopping lists), /docs (API)")
                    telemetry.note(tokenHint)
                    telemetry.note(
                        "Try: curl '\(location)/v1/stores/corner/shelves/dairy/products?sort=unit_price&limit=3'"
                    )
                }
                await notifier?.send(.ready(status: "Listening on \(location)"), within: .seconds(10))
            }
        )
        // Services stop in reverse order: streams first, so that they do not delay the server; the admin port last.
        var services: [any Service] = []
        if let adminPort = settings.adminPort {
            let monitor = ServerMonitor(
                startedAt: telemetry.startedAt,
                catalog: catalog,
                products: apiOptions.products,
                live: live,
                drainState: apiOptions.drainState,
                connections: connections,
                log: telemetry.log,
                spans: tracing?.service.exporter,
                observations: telemetry.observations,
                registry: telemetry.registry
            )
            services.append(adminServer(monitor, adminPort))
        }
        if let tracing { services.append(tracing.service) }
        services += [
            EventLoopMonitor(group: MultiThreadedEventLoopGroup.singleton, factory: telemetry.registry),
            Housekeeping(catalog: catalog, observer: telemetry.housekeeping, auditRetention: settings.auditRetention),
            server, LiveService(live: live),
        ]
        if let notifier, let interval = notifier.watchdog {
            services.append(Watchdog(notifier: notifier, interval: interval, probe: api.isAlive, logger: logger))
        }
        var configuration = ServiceGroupConfiguration(
            services: (services + [draining]).map { .init(service: $0) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: telemetry.log.logger
        )
        configuration.maximumGracefulShutdownDuration = settings.drain + Self.shutdownTimeout
        defer {
            catalog.shutDown()
            telemetry.log.flush()
        }
        do {
            // Requests set their own origin.
            let services = ServiceGroup(configuration: configuration)
            try await ChangeOrigin.server.run { try await services.run() }
        } catch {
            throw Self.bindFailure(error, settings.host, port, ("--host", "--port")) ?? error
        }
    }

    /// How long a starting server reads shelves, at most, before it answers requests.
    private static let readingLimit: Duration = .seconds(10)

    /// Reads the shelves that servers used last, so that the first pages of these shelves cost no more than later pages. The server also
    /// works without these shelves.
    ///
    /// - Returns: the shelves that were read, the ones that were used last first.
    private func readShelves() async -> [ShelfAddress] {
        do {
            let shelves = try await ShelfImages(catalog).readLastUsed(within: Self.readingLimit)
            telemetry.log.logger.info("read shelves into memory", metadata: ["shelves": "\(shelves.count)"])
            return shelves
        } catch {
            telemetry.log.logger.warning("cannot read shelves into memory: \(error)")
            return []
        }
    }

    private func adminServer(_ monitor: ServerMonitor, _ port: Int) -> any Service {
        let (host, telemetry) = (settings.adminHost, telemetry)
        let address = sockets.admin.map { .socket($0) } ?? ListeningAddress.host(host, port: port)
        let server = ListeningServer(
            at: address,
            connection: AdminAPI(monitor: monitor).channel(
                .init(additionalChannelHandlers: [QuiescingHandler()], idleTimeout: .seconds(60)),
                logger: telemetry.log.logger
            ),
            connectionLimit: Self.adminConnectionLimit,
            logger: telemetry.log.logger,
            onListening: { telemetry.note("Admin port: \(address.location($0))") }
        )
        return ServiceWithErrors(service: server) {
            Self.bindFailure($0, host, port, ("AISLE_ADMIN_HOST", "AISLE_ADMIN_PORT")) ?? $0
        }
    }

    /// The maximum number of connections to the admin port.
    private static let adminConnectionLimit = 100

    /// A service whose error is replaced.
    private struct ServiceWithErrors<Base: Service>: Service {
        let service: Base
        let map: @Sendable (any Error) -> any Error

        func run() async throws { do { try await service.run() } catch { throw map(error) } }
    }

    /// Returns the configured key, or the key in the database.
    private func deploymentKey() async throws -> [UInt8] {
        if let own = settings.cursorKey { return Array(own.utf8) }
        return try await catalog.database.deploymentKey()
    }

    /// Returns the error for an address on which a server cannot listen; nil for other errors.
    ///
    /// - Parameter settings: the names of the settings that choose the host and the port.
    private static func bindFailure(
        _ error: any Error,
        _ host: String,
        _ port: Int,
        _ settings: (host: String, port: String)
    ) -> (any Error)? {
        let reason: String
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE: reason = "the port is in use; choose another with \(settings.port)"
        case EADDRNOTAVAIL: reason = "this is not an address of this machine; choose another with \(settings.host)"
        case EACCES: reason = "permission denied; choose a port above 1023 with \(settings.port)"
        default: return nil
        }
        return CommandFailure("cannot listen on \(host):\(port): \(reason)", CommandFailure.unavailable)
    }

    /// Returns the first free port at or after a port.
    static func freePort(from first: Int, host: String) -> Int {
        for port in first..<min(first + 100, 65535) {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = inet_addr(host == "localhost" ? "127.0.0.1" : host)
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if bound == 0 { return port }
        }
        return first
    }
}

extension ListeningAddress {
    /// The URL of the server, or the path of its socket.
    fileprivate func location(_ channel: any Channel) -> String {
        let actual = channel.localAddress
        switch self {
        case .host(let host, let port): return "http://\(host):\(actual?.port ?? port)"
        case .socket:
            guard let host = actual?.ipAddress, let port = actual?.port else { return "unix:\(actual?.pathname ?? "")" }
            return host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
        }
    }
}

/// Serves subscribers until shutdown, then closes their streams first.
struct LiveService: Service {
    let live: LiveHub

    func run() async throws {
        await cancelWhenGracefulShutdown { await live.run() }
        live.close()
    }
}

/// Raises the limit of open descriptors to the system's maximum: the usual 1024 are fewer than the streams that it may
/// serve.
private func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
