internal import Synchronization

/// Takes the place of the terminal, for commands that run in the process of a test.
package final class TerminalRecord: Sendable {
    private struct Texts {
        package var output: [UInt8] = []
        package var notes: [UInt8] = []
        var answers: [String]
    }

    package let isTerminal: Bool
    /// The width of the terminal, in letters.
    package let width: Int?
    private let texts: Mutex<Texts>

    /// - Parameter answers: what the user types, in order.
    package init(isTerminal: Bool = false, width: Int? = nil, answers: [String] = []) {
        self.isTerminal = isTerminal
        self.width = width
        texts = Mutex(Texts(answers: answers))
    }

    /// The text that was written to stdout.
    package var output: String { String(decoding: texts.withLock { $0.output }, as: UTF8.self) }
    /// The text that was written to stderr.
    package var notes: String { String(decoding: texts.withLock { $0.notes }, as: UTF8.self) }

    package func add(output bytes: [UInt8]) { texts.withLock { $0.output += bytes } }
    package func add(notes bytes: [UInt8]) { texts.withLock { $0.notes += bytes } }

    /// Returns the next line that the user types; nil at the end.
    package func answer() -> String? { texts.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() } }
}
