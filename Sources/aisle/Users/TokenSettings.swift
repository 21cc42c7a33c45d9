internal import Catalog
internal import CatalogHTTP
internal import FoundationEssentials
internal import Telemetry
internal import WebClient

/// The settings of token verification. Secrets come from the environment or from files, never from arguments.
struct TokenSettings: Sendable {
    /// The secret for HS256, which also signs.
    var secret: [UInt8]?
    /// The file with the secret; ignored if `secret` is set.
    var secretFile: String?
    /// Further secrets whose tokens are accepted, while the secret is rotated.
    var acceptedSecrets: [[UInt8]] = []
    /// A file or URL with the key set for ES256 and RS256.
    var keySet: String?
    /// Whether the key set may come over plain HTTP.
    var allowsHTTP = false
    var rules = TokenVerifier.Rules()

    /// Reads the secret from its file, and checks the settings together.
    mutating func complete() throws {
        if secret == nil, let secretFile { secret = try SecretFile.read(secretFile, of: "jwt.secret.file") }
        for (name, secrets) in [("jwt.secret", [secret].compactMap { $0 }), ("jwt.accepted.secrets", acceptedSecrets)] {
            if let short = secrets.first(where: { $0.count < TokenKeys.minimumSecretLength }) {
                throw CommandFailure(
                    "\(name) must have at least \(TokenKeys.minimumSecretLength) bytes (got \(short.count))",
                    CommandFailure.configuration
                )
            }
        }
        if let keySet, keySet.lowercased().hasPrefix("http://"), !allowsHTTP {
            throw CommandFailure(
                "jwks must be an https:// URL or a file, because anyone on the network path could replace the keys; "
                    + "set jwks.allow.http to true to accept that",
                CommandFailure.configuration
            )
        }
    }

    /// How a developer gets a token that the server accepts.
    var hint: String {
        if secret != nil { return "To get a token with write access: aisle token --user you --scope catalog:write" }
        return keySet.map { "Tokens come from the identity provider whose keys are at \($0)" }
            ?? "Tokens are signed elsewhere, because this server has no secret to sign with"
    }

    /// Whether no token can be verified.
    var isEmpty: Bool { secret == nil && acceptedSecrets.isEmpty && keySet == nil }

    /// - Throws: `CommandFailure` for an invalid key set file; a URL may become available later.
    func verifier() async throws -> TokenVerifier? {
        guard !isEmpty else { return nil }
        let keys = TokenKeys(secrets: [secret].compactMap { $0 } + acceptedSecrets, load: keySet.map(Self.loader))
        if let keySet, !(await keys.refresh()) {
            guard Self.isURL(keySet) else {
                throw CommandFailure(
                    "cannot read keys for ES256 or RS256 from the file \(keySet) of jwks",
                    CommandFailure.configuration
                )
            }
            Console.note(
                "aisle: cannot fetch the key set of jwks yet; requests with tokens get 503 until it is available"
            )
        }
        if keySet != nil, rules.audiences.isEmpty {
            Console.note(
                "aisle: warning: without jwt.audience, tokens that the provider issued for other services are accepted"
            )
        }
        return TokenVerifier(keys: keys, rules: rules)
    }

    private static func isURL(_ text: String) -> Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    /// The maximum size of a key set, in bytes.
    private static let limit = 1 << 20

    private static func loader(_ place: String) -> @Sendable () async throws -> [UInt8] {
        guard isURL(place) else { return { [UInt8](try Data(contentsOf: URL(filePath: place))) } }
        return {
            let fetch = HTTPFetch(
                "GET",
                place,
                headers: [("Accept", "application/json")],
                timeout: .seconds(5),
                bodyLimit: limit
            )
            let response = try await HTTPClient.shared.send(fetch.continuingTrace())
            guard response.status == 200 else {
                throw CommandFailure("\(place) returned status \(response.status)", CommandFailure.unavailable)
            }
            return response.body
        }
    }
}
