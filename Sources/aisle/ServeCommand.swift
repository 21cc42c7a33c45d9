internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import FoundationEssentials
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import Platform
internal import Postgres
internal import ServiceLifecycle
internal import UnixSignals

struct ServeCommand: AisleCommand {
    static let handlesSignals = true
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Serve the catalog over HTTP.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var server: ServerOptions

    func execute() async throws {
        Server.prepareProcess()
        var settings = try await server.settings()
        // The private database's own, where `aisle dev` made one.
        if settings.tokens.isEmpty, database.isPrivate { settings.tokens.secret = OwnSecret.read() }
        let catalog = try await database.catalog(serving: settings)
        if settings.tokens.isEmpty {
            Console.note(
                "aisle: there are no keys to check tokens with, so nobody can write or have settings; set AISLE_JWT_SECRET, "
                    + "AISLE_JWT_SECRET_FILE or AISLE_JWKS"
            )
        }
        try await Server(
            catalog: catalog,
            settings: settings,
            listening: try database.directConfiguration(),
            port: settings.port
        ).run()
    }
}

struct DevCommand: AisleCommand {
    static let handlesSignals = true
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Start a private PostgreSQL, migrate, seed, and serve; stop it all with Ctrl-C."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var server: ServerOptions

    func execute() async throws {
        Server.prepareProcess()
        var settings = try await server.settings()
        var demo: Demo?
        if settings.tokens.isEmpty {
            let secret = try OwnSecret.make()
            settings.tokens.secret = secret
            // What others reach, or share, opens nothing to everybody.
            if database.isPrivate, Demo.isLoopback(settings.host) {
                demo = try Demo(signer: TokenSigner(secret: secret, rules: settings.tokens.rules), storms: seedStorms())
            }
        }
        var cluster: PrivateCluster?
        var wasRunning = false
        if database.isPrivate {
            let own = try PrivateCluster(folder: DatabaseOptions.privateFolder)
            wasRunning = own.isRunning
            try own.start()
            try await ensureDatabase(own)
            cluster = own
        }
        defer {
            if wasRunning {
                Console.note("PostgreSQL goes on running, as it did before; to stop it: aisle db stop")
            } else {
                try? cluster?.stop()
            }
        }
        let pool = try database.pool()
        for step in try await Migrator(pool).migrate() { Console.note("migrated: \(step.description)") }
        pool.shutDown()
        let catalog = try await database.catalog(serving: settings)
        if try await catalog.stores().isEmpty {
            let summary = try await seedOwnCatalog(catalog)
            Console.note("seeded: \(summary.inserted) products")
        }
        let port = settings.hasOwnPort ? settings.port : Server.freePort(from: settings.port, host: settings.host)
        try await Server(
            catalog: catalog,
            settings: settings,
            listening: try database.directConfiguration(),
            port: port,
            isGreeting: true,
            demo: demo
        ).run()
    }
}

/// Makes the cluster's database where it is missing.
func ensureDatabase(_ cluster: PrivateCluster) async throws {
    let admin = try await PostgresConnection.connect(cluster.configuration(database: "postgres"))
    try await admin.perform { database in
        let exists = try database.query("SELECT 1 FROM pg_database WHERE datname = 'aisle'") { $0.count > 0 }
        if !exists {
            try database.run(script: "CREATE DATABASE aisle TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'")
        }
    }
    await admin.close()
}

/// Bytes that are here already, as a sequence of pieces.
struct SinglePiece: AsyncSequence, Sendable {
    let bytes: [UInt8]
    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?
        mutating func next() async -> [UInt8]? { bytes.take() }
    }
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}

/// The composition root of a running server.
struct Server {
    let catalog: PostgresCatalog
    let settings: ServerSettings
    /// Where changes are heard.
    let listening: PostgresConfiguration
    let port: Int
    var isGreeting = false
    var demo: Demo?

    /// The limits of a connection: 16 KiB of headers, 100 of them, a minute of silence.
    private static var channel: HTTP1Channel.Configuration {
        var channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ClosingHandler(), StallHandler()],
            idleTimeout: .seconds(60)
        )
        channel.httpDecoder = .init(maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)
        return channel
    }

    /// Before any connection: a peer that is gone ends a call, not the process, and a crash leaves a line in the log.
    static func prepareProcess() {
        signal(SIGPIPE, SIG_IGN)
        if (ProcessInfo.processInfo.environment["SWIFT_BACKTRACE"] ?? "").isEmpty {
            CrashReport.install(version: Aisle.version)
        }
    }

    /// How long requests in flight may take once the server was asked to stop.
    private static let graceful: Duration = .seconds(15)

    func run() async throws {
        var apiOptions = CatalogAPI.Options()
        apiOptions.origins = settings.origins
        apiOptions.demo = demo
        apiOptions.pageCacheBound = settings.pageCacheMegabytes << 20
        let draining = Draining(for: settings.drain)
        apiOptions.isDraining = { draining.isDraining }
        raiseDescriptorLimit()
        var liveOptions = LiveHub.Options()
        liveOptions.followers = settings.streams
        let live = LiveHub(
            catalog,
            source: settings.listens ? PostgresChangeSource(listening) : nil,
            options: liveOptions
        )
        let api = CatalogAPI(
            catalog: catalog,
            importer: Importer(catalog),
            cursors: CursorCodec(key: try await cursorKey()),
            verifier: try await settings.tokens.verifier(),
            live: live,
            options: apiOptions,
            observer: catalog.observer
        )
        let (host, wanted, isGreeting) = (settings.host, port, isGreeting)
        let app = Application(
            responder: CrashPreparing(api),
            server: .http1(configuration: Self.channel),
            configuration: .init(address: .hostname(host, port: wanted), serverName: nil),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? wanted
                Console.note("Aisle serves http://\(host):\(port)")
                if isGreeting {
                    Console.note("Open it in a browser: / sorts, /merchandise arranges, /lists shops, /docs explains")
                    Console.note("A token to write with: aisle token --user you --scope catalog:write")
                    Console.note(
                        "Try: curl 'http://\(host):\(port)/v1/stores/corner/shelves/dairy/products?sort=unit_price&limit=3'"
                    )
                }
            },
            logger: settings.logger
        )
        var configuration = ServiceGroupConfiguration(
            // They end in the opposite order: first the streams, so that nothing holds the server up.
            services: [
                .init(service: app), .init(service: Housekeeping(catalog: catalog)),
                .init(service: LiveService(live: live)), .init(service: draining),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: settings.logger
        )
        configuration.maximumGracefulShutdownDuration = settings.drain + Self.graceful
        do { try await ServiceGroup(configuration: configuration).run() } catch {
            if let failure = Self.bindFailure(error, host, wanted) { throw failure }
            throw error
        }
        catalog.shutDown()
    }

    /// The deployment's own key, unless another is configured.
    private func cursorKey() async throws -> [UInt8] {
        if let own = settings.cursorKey { return Array(own.utf8) }
        return try await catalog.cursorKey()
    }

    private static func bindFailure(_ error: any Error, _ host: String, _ port: Int) -> CommandFailure? {
        let text = "\(error)"
        return text.contains("bind") || text.contains("Address already in use")
            ? CommandFailure(
                "cannot listen on \(host):\(port): it is in use, or not this machine's; choose another with --port",
                CommandFailure.unavailable
            )
            : nil
    }

    /// The first port from one on that nobody listens on.
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

/// Serves on threads whose exhausted stacks are reported too.
private struct CrashPreparing: HTTPResponder {
    private let api: CatalogAPI

    init(_ api: CatalogAPI) { self.api = api }

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        CrashReport.prepareThread()
        return try await api.respond(to: request, context: context)
    }
}
