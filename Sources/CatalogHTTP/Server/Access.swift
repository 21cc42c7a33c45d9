internal import Catalog

/// Who may call an endpoint.
enum Access: Sendable {
    /// Everybody; a token is ignored.
    case open
    /// Everybody; a token may change the response.
    case anyone
    /// Users with a token, for their own data.
    case user
    /// Users with a token that has the scope.
    case scope(Scope)
}
