/// The reason for rejecting a token.
package enum TokenError: Error, Sendable, Equatable {
    /// The token is malformed or not accepted, with the reason.
    case invalid(String)
    /// The verification keys are not available at the moment.
    case keysUnavailable
}
