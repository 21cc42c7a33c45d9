internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

struct TokenCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a token, signed with the server's secret.",
        discussion: """
            The secret is that of AISLE_JWT_SECRET or AISLE_JWT_SECRET_FILE, of the settings file, or the one that `aisle dev` \
            made in this folder.
            """
    )

    @Option(help: "Whom the token is for: its sub.") var user: UserArgument
    @Option(help: "What it permits beyond the user's own: catalog:write. May be given several times.") var scope:
        [ScopeArgument] =
            []
    @Flag(help: "For somebody who has not signed in: its sub begins with guest:.") var guest = false
    @Option(help: "How long it is good for, as 45s, 30m, 12h or 7d.") var expires = Lifetime(seconds: 12 * 3600)
    @Option(help: "A JSON file with settings (AISLE_CONFIG; aisle.json where it is there).") var config: String?

    func execute() async throws {
        let settings = try await ServerOptions.parse(config.map { ["--config", $0] } ?? []).settings().tokens
        guard let secret = settings.isEmpty ? OwnSecret.read() : settings.secret else {
            throw CommandFailure(
                "there is no secret to sign with; set AISLE_JWT_SECRET, or run this where `aisle dev` was run",
                CommandFailure.configuration
            )
        }
        let name = guest && !user.id.isGuest ? UserID.guestPrefix + user.id.text : user.id.text
        guard let subject = UserID(name) else {
            throw CommandFailure("a user is \(UserID.rule)", CommandFailure.usage)
        }
        let caller = Caller(
            user: subject,
            scopes: Set(scope.map(\.scope)),
            expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + expires.seconds * 1_000_000)
        )
        Console.data(TokenSigner(secret: secret, rules: settings.rules).token(for: caller) + "\n")
    }
}
