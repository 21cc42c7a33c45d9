internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP
internal import CatalogPostgres
internal import Glibc
internal import HummingbirdCore
internal import LibPQ

struct ServeCommand: AisleCommand {
    static let handlesSignals = true
    static let configuration = CommandConfiguration(commandName: "serve", abstract: "Serve the catalog over HTTP.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var server: ServerOptions

    func execute() async throws {
        Server.prepareProcess()
        let (sockets, notifier) = (try ActivationSockets.take(), SystemdNotifier.take())
        var settings = try server.settings()
        if sockets.admin != nil, settings.adminPort == nil {
            throw CommandFailure(
                "systemd passed a socket named admin, but the admin port is off; set AISLE_ADMIN_PORT to any number",
                CommandFailure.configuration
            )
        }
        // Use the secret of the private database, if `aisle dev` generated one.
        if settings.tokens.isEmpty, database.isPrivate { settings.tokens.secret = LocalSecret.read() }
        let telemetry = try ServerTelemetry(settings)
        let catalog = try await database.catalog(serving: settings, telemetry.database)
        if settings.tokens.isEmpty {
            telemetry.note(
                "aisle: no keys to verify tokens, so writes and user settings are disabled; set AISLE_JWT_SECRET, "
                    + "AISLE_JWT_SECRET_FILE or AISLE_JWKS"
            )
        }
        try await Server(
            catalog: catalog,
            settings: settings,
            telemetry: telemetry,
            listenConfiguration: try database.directConfiguration(),
            port: settings.port,
            sockets: sockets,
            notifier: notifier
        ).run()
    }
}
