internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import Glibc
internal import HummingbirdCore
internal import LibPQ
internal import LocalPostgres

struct DevCommand: AisleCommand {
    static let handlesSignals = true
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Start a private PostgreSQL, migrate, seed and serve; stop everything with Ctrl-C."
    )

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var server: ServerOptions

    func execute() async throws {
        Server.prepareProcess()
        var settings = try server.settings()
        var demo: Demo?
        if settings.tokens.isEmpty {
            let secret = try LocalSecret.make()
            settings.tokens.secret = secret
            // No demo on a shared database, or on an address that others can reach.
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
                Console.note("PostgreSQL was already running and stays up; stop it with: aisle db stop")
            } else {
                do { try cluster?.stop() } catch {
                    Console.note(
                        "aisle: PostgreSQL was not stopped: \(CommandFailure(error).message); stop it with: aisle db stop"
                    )
                }
            }
        }
        try await database.withPool { pool in
            for step in try await Migrator(pool).migrate() { Console.note("migrated: \(step.description)") }
        }
        let telemetry = try ServerTelemetry(settings)
        let catalog = try await database.catalog(serving: settings, telemetry.database)
        if try await catalog.shelves.stores().isEmpty {
            let summary = try await seedSampleCatalog(catalog)
            Console.note("seeded: \(summary.inserted) products")
        }
        let port = settings.hasOwnPort ? settings.port : Server.freePort(from: settings.port, host: settings.host)
        if port != settings.port { Console.note("port \(settings.port) is in use; serving on \(port)") }
        try await Server(
            catalog: catalog,
            settings: settings,
            telemetry: telemetry,
            listenConfiguration: try database.directConfiguration(),
            port: port,
            showsWelcome: true,
            demo: demo
        ).run()
    }
}

/// Creates the cluster's database if it is missing.
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
