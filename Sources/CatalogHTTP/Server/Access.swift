internal import Catalog

/// The access level of an endpoint.
enum Access: Sendable {
    /// Everyone, free of charge; a token is ignored.
    case open
    /// Everyone; a token may change the response.
    case optionalToken
    /// Users with a token, for their own data.
    case user
    /// Users whose token has the scope, or a scope that includes it, for the store of the path.
    case scope(Scope)
}
