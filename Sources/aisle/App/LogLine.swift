internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Logging

/// A line of the log.
struct LogLine {
    enum Value {
        case text(String)
        case integer(Int)
        case decimal(Double)
    }

    var time = Timestamp.now()
    var level: Logger.Level
    var message: String
    /// Further fields, in order.
    var fields: [(name: String, value: Value)] = []

    /// Returns the line with its line break.
    func bytes(_ format: LogFormat) -> [UInt8] {
        switch format {
        case .json: json()
        case .text: Array(text().utf8)
        }
    }

    private func json() -> [UInt8] {
        var json = JSONWriter(reserving: 256)
        json.object { json in
            json.field("time", time.rfc3339)
            json.field("level", level.rawValue)
            json.field("message", message)
            for field in fields {
                switch field.value {
                case .text(let text): json.field(name: field.name, text)
                case .integer(let number): json.field(name: field.name, number)
                case .decimal(let number): json.field(name: field.name, number)
                }
            }
        }
        return json.bytes + "\n".utf8
    }

    private func text() -> String {
        var line = "\(time.rfc3339) \(level.rawValue): \(Self.oneLine(message))"
        for field in fields {
            switch field.value {
            case .text(let text): line += " \(field.name)=\(Self.quoted(text))"
            case .integer(let number): line += " \(field.name)=\(number)"
            case .decimal(let number): line += " \(field.name)=\(number)"
            }
        }
        return line + "\n"
    }

    /// Returns a text without line breaks and other control characters, which could imitate lines or control a terminal.
    private static func oneLine(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var line = ""
        for scalar in text.unicodeScalars { line.unicodeScalars.append(isControl(scalar) ? " " : scalar) }
        return line
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    /// Returns a text in quotation marks if it is empty or contains spaces or quotation marks.
    private static func quoted(_ text: String) -> String {
        let line = oneLine(text)
        guard line.isEmpty || line.contains(where: { $0 == " " || $0 == "\"" || $0 == "=" }) else { return line }
        var quoted = "\""
        for character in line {
            if character == "\"" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted + "\""
    }
}
