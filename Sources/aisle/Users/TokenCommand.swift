internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

struct TokenCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Print a token, signed with the server's secret.",
        discussion: """
            The secret comes from AISLE_JWT_SECRET, AISLE_JWT_SECRET_FILE or the settings file, or is the one that `aisle dev` \
            generated in this directory.
            """
    )

    @Option(help: "The user of the token (its sub).") var user: UserID
    @Option(help: "A permission to grant. May be repeated.") var scope: [Scope] = []
    @Option(help: "Limit the permissions to this store. May be repeated.", completion: NameCompletion.stores)
    var store: [CatalogKey] = []
    @Option(help: "The id under which tills report the user's purchases, if it is not the user.")
    var customer: String?
    @Flag(help: "Create a token for a guest, whose sub starts with guest:.") var guest = false
    @Option(help: "The lifetime of the token, such as 45s, 30m, 12h or 7d.") var expires = Lifetime(seconds: 12 * 3600)
    @OptionGroup var file: SettingsFile

    func execute() async throws {
        let settings = try file.settings().tokens
        guard let secret = settings.isEmpty ? LocalSecret.read() : settings.secret else {
            throw CommandFailure(
                "no secret to sign with; set AISLE_JWT_SECRET, or run this in the directory of `aisle dev`",
                CommandFailure.configuration
            )
        }
        let name = guest && !user.isGuest ? UserID.guestPrefix + user.text : user.text
        guard let subject = UserID(name) else {
            throw CommandFailure("--user must be \(UserID.rule)", CommandFailure.usage)
        }
        let caller = Caller(
            user: subject,
            scopes: Set(scope),
            stores: store.isEmpty ? nil : Set(store),
            customer: customer,
            expiresAt: Timestamp.now().adding(seconds: expires.seconds),
            token: UniqueID.random().text
        )
        Console.data(TokenSigner(secret: secret, rules: settings.rules).token(for: caller) + "\n")
    }
}

/// A duration as a command line argument: `12h`.
struct Lifetime: ExpressibleByArgument {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int64(argument.dropLast()),
            (1...Int64(TokenVerifier.maximumLifetimeDays) * 86_400).contains(
                number.multipliedReportingOverflow(by: unit).partialValue
            ),
            !number.multipliedReportingOverflow(by: unit).overflow
        else { return nil }
        seconds = number * unit
    }

    var defaultValueDescription: String { "\(seconds / 3600)h" }
}
