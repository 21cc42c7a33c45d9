internal import HTTPTypes
internal import Hummingbird

/// A body that the client sends only once it is asked for it (RFC 9110, section 10.1.1).
enum HeldBody {
    /// Asks the client for the body of the current task's request; nil if the client does not wait.
    @TaskLocal static var ask: (@Sendable () -> Void)?
}

extension Request {
    /// Whether the client may wait for an interim response before it sends the body.
    var expectsContinue: Bool { headers[.expect]?.lowercased().contains("100-continue") ?? false }
}
