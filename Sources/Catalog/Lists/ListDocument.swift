/// A list, or a change of one, as JSON for the user who asked for it.
///
/// It is kept as it is: a list holds facts about products, such as prices, which change before a request is repeated.
package struct ListDocument: Sendable, Hashable {
    package let json: [UInt8]
    /// Whether the request created the list or changed items; false if everything was there already.
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
