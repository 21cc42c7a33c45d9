/// Splits SQL text into its statements. Citus refuses several statements in one query.
package enum StatementSplitter {
    /// Returns the statements without their semicolons, in order. Comments between statements belong to the next one; a script
    /// of comments has none.
    ///
    /// - Complexity: O(*n*) in the length of the text.
    package static func statements(of text: String) -> [String] {
        var reader = Reader(text: Array(text.utf8))
        var statements: [String] = []
        while let statement = reader.next() { statements.append(statement) }
        return statements
    }

    private struct Reader {
        let text: [UInt8]
        private var index = 0

        init(text: [UInt8]) { self.text = text }

        mutating func next() -> String? {
            let start = index
            var hasCode = false
            while index < text.count {
                let byte = text[index]
                if byte == UInt8(ascii: ";") {
                    let statement = text[start..<index]
                    index += 1
                    if hasCode { return Self.trimmed(statement) }
                    return next()
                }
                if skipComment() { continue }
                if !Self.isSpace(byte) { hasCode = true }
                skipToken()
            }
            return hasCode ? Self.trimmed(text[start...]) : nil
        }

        /// Skips a comment, if one begins here.
        private mutating func skipComment() -> Bool {
            if starts(with: "--") {
                while index < text.count, text[index] != UInt8(ascii: "\n") { index += 1 }
                return true
            }
            guard starts(with: "/*") else { return false }
            var depth = 0
            repeat {
                if starts(with: "/*") {
                    (depth, index) = (depth + 1, index + 2)
                } else if starts(with: "*/") {
                    (depth, index) = (depth - 1, index + 2)
                } else {
                    index += 1
                }
            } while depth > 0 && index < text.count
            return true
        }

        /// Skips a quoted text or name, or one byte.
        private mutating func skipToken() {
            switch text[index] {
            case UInt8(ascii: "'"):
                let previous = index > 0 ? text[index - 1] : 0
                let escapes = previous == UInt8(ascii: "E") || previous == UInt8(ascii: "e")
                skipQuoted(by: UInt8(ascii: "'"), escapes: escapes && (index < 2 || !Self.isOfName(text[index - 2])))
            case UInt8(ascii: "\""): skipQuoted(by: UInt8(ascii: "\""), escapes: false)
            case UInt8(ascii: "$") where index == 0 || !Self.isOfName(text[index - 1]): skipDollarQuoted()
            default: index += 1
            }
        }

        /// A doubled quote needs no care: the text after it is skipped as another quoted one.
        private mutating func skipQuoted(by quote: UInt8, escapes: Bool) {
            index += 1
            while index < text.count, text[index] != quote {
                index += escapes && text[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index = min(index + 1, text.count)
        }

        private mutating func skipDollarQuoted() {
            var end = index + 1
            while end < text.count, Self.isOfName(text[end]) { end += 1 }
            let isParameter = end > index + 1 && (48...57).contains(text[index + 1])
            guard end < text.count, text[end] == UInt8(ascii: "$"), !isParameter else {
                index += 1
                return
            }
            let tag = text[index...end]
            index = end + 1
            while index < text.count, !text[index...].starts(with: tag) { index += 1 }
            index = min(index + tag.count, text.count)
        }

        private func starts(with token: StaticString) -> Bool {
            token.withUTF8Buffer { text[index...].starts(with: $0) }
        }

        private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

        private static func isOfName(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
                || byte > 127
        }

        private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
            let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
            let end = bytes.lastIndex { !isSpace($0) } ?? start
            return String(decoding: bytes[start...end], as: UTF8.self)
        }
    }
}
