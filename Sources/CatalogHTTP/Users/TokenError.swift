/// Why a token is not taken.
package enum TokenError: Error, Sendable, Equatable {
    /// It is none, or one that is not accepted: what is wrong with it.
    case invalid(String)
    /// The keys that could tell are not there at the moment.
    case keysUnavailable
}
