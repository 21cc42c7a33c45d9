import SwiftSyntax

/// A fault: a replacement of some bytes of a file, which a switch of the test run turns on.
struct Mutation: Codable {
    /// The path of the file, relative to the root.
    var file = ""
    /// The line in the original file, from 1.
    var line = 0
    /// The kind of fault.
    let kind: String
    /// The range of bytes in the original file.
    let start: Int
    let end: Int
    /// The original text and the fault, for people.
    let original: String
    let mutant: String
    /// The text that replaces the bytes, in which `#` is the number of the mutation.
    let code: String

    init(_ kind: String, _ node: some SyntaxProtocol, _ mutant: String, code: String) {
        self.init(
            kind,
            node.positionAfterSkippingLeadingTrivia.utf8Offset,
            node.endPositionBeforeTrailingTrivia.utf8Offset,
            node.trimmedDescription,
            mutant,
            code: code
        )
    }

    init(_ kind: String, _ start: Int, _ end: Int, _ original: String, _ mutant: String, code: String) {
        (self.kind, self.start, self.end) = (kind, start, end)
        (self.original, self.mutant, self.code) = (original, mutant, code)
    }
}
