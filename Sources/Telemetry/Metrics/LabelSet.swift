/// The labels of a series, as both text formats write them.
struct LabelSet: Sendable, Hashable, Comparable {
    /// `name="value"` pairs, separated by commas, with escaped values.
    let text: String

    init(_ labels: [(String, String)]) {
        text = labels.map { "\(Self.identifier($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    }

    private init(text: String) { self.text = text }

    func adding(_ name: String, _ value: String) -> LabelSet {
        LabelSet(text: (text.isEmpty ? "" : text + ",") + "\(name)=\"\(value)\"")
    }

    static func < (a: LabelSet, b: LabelSet) -> Bool { a.text < b.text }

    /// Returns a name with only the characters that names of metrics and labels may have.
    static func identifier(_ name: String) -> String {
        let isValid = { (letter: UInt8) in
            (0x30...0x39).contains(letter) || (0x41...0x5A).contains(letter) || (0x61...0x7A).contains(letter)
                || letter == 0x5F
        }
        let text = String(decoding: name.utf8.map { isValid($0) ? $0 : 0x5F }, as: UTF8.self)
        return text.utf8.first.map { (0x30...0x39).contains($0) } ?? true ? "_" + text : text
    }

    static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { [0x22, 0x5C, 0x0A].contains($0) }) else { return value }
        return value.reduce(into: "") { text, letter in
            switch letter {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            // A line break with a carriage return is one character.
            case "\n", "\r\n": text += "\\n"
            default: text.append(letter)
            }
        }
    }
}
