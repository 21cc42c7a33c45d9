/// A list, or a list change, as JSON for the requesting user.
///
/// The JSON is recorded verbatim: it contains prices, which may change before the request is repeated.
package struct ListDocument: Sendable, Hashable {
    package let json: [UInt8]
    /// Whether the request created the list or changed items; false if nothing changed.
    package let isNew: Bool

    package init(json: [UInt8], isNew: Bool) {
        self.json = json
        self.isNew = isNew
    }
}

extension ListDocument: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(isNew: isNew, body: json) }

    package init(recorded: RecordedResponse) { self.init(json: recorded.body, isNew: recorded.isNew) }
}
