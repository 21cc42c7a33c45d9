internal import Synchronization

/// Takes the place of the terminal, for commands that run in the process of a test.
final class ConsoleRecord: Sendable {
    private struct Texts {
        var output: [UInt8] = []
        var notes: [UInt8] = []
        var answers: [String]
    }

    let isTerminal: Bool
    /// The width of the terminal, in letters.
    let width: Int?
    private let texts: Mutex<Texts>

    /// - Parameter answers: what the user types, in order.
    init(isTerminal: Bool = false, width: Int? = nil, answers: [String] = []) {
        self.isTerminal = isTerminal
        self.width = width
        texts = Mutex(Texts(answers: answers))
    }

    /// The text that was written to stdout.
    var output: String { String(decoding: texts.withLock { $0.output }, as: UTF8.self) }
    /// The text that was written to stderr.
    var notes: String { String(decoding: texts.withLock { $0.notes }, as: UTF8.self) }

    func add(output bytes: [UInt8]) { texts.withLock { $0.output += bytes } }
    func add(notes bytes: [UInt8]) { texts.withLock { $0.notes += bytes } }

    /// Returns the next line that the user types; nil at the end.
    func answer() -> String? { texts.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() } }
}
