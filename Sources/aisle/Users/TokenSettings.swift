internal import Catalog
internal import CatalogHTTP
internal import Configuration
internal import FoundationEssentials
internal import WebClient

/// The settings of token verification. Secrets come from the environment or from files, never from arguments.
struct TokenSettings: Sendable {
    /// The secret for HS256.
    var secret: [UInt8]?
    /// A file or URL with the key set for ES256 and RS256.
    let keySet: String?
    let rules: TokenVerifier.Rules

    init(_ reader: ConfigReader) throws {
        let text = try ServerSettings.present("jwt.secret") { try reader.requiredString(forKey: $0, isSecret: true) }
        let file = try ServerSettings.present("jwt.secret.file") { try reader.requiredString(forKey: $0) }
        if let text {
            secret = Array(text.utf8)
        } else if let file {
            guard let data = FileManager.default.contents(atPath: file) else {
                throw CommandFailure("cannot read the file \(file) of jwt.secret.file", CommandFailure.configuration)
            }
            // Files written by an editor end with a line break.
            var bytes = [UInt8](data)
            while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
            secret = bytes
        }
        if let secret, secret.count < TokenKeys.minimumSecretLength {
            throw CommandFailure(
                "jwt.secret must have at least \(TokenKeys.minimumSecretLength) bytes (got \(secret.count))",
                CommandFailure.configuration
            )
        }
        keySet = try ServerSettings.present("jwks") { try reader.requiredString(forKey: $0) }
        rules = TokenVerifier.Rules(
            issuer: try ServerSettings.present("jwt.issuer") { try reader.requiredString(forKey: $0) },
            audience: try ServerSettings.present("jwt.audience") { try reader.requiredString(forKey: $0) }
        )
    }

    /// Whether no token can be verified.
    var isEmpty: Bool { secret == nil && keySet == nil }

    /// - Throws: `CommandFailure` for an invalid key set file; a URL may become available later.
    func verifier() async throws -> TokenVerifier? {
        guard !isEmpty else { return nil }
        let keys = TokenKeys(secret: secret, load: keySet.map(Self.loader))
        if let keySet, !(await keys.refresh()) {
            guard Self.isURL(keySet) else {
                throw CommandFailure(
                    "the file \(keySet) of jwks has no keys for ES256 or RS256",
                    CommandFailure.configuration
                )
            }
            Console.note(
                "aisle: cannot fetch the key set of jwks yet; requests with tokens get 503 until it is available"
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
            let response = try await HTTPClient.shared.send(fetch)
            guard response.status == 200 else {
                throw CommandFailure("\(place) returned status \(response.status)", CommandFailure.unavailable)
            }
            return response.body
        }
    }
}
