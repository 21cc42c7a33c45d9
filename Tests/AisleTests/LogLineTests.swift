import JSON
import Catalog
import CatalogJSON
import Logging
import Testing

@testable import aisle

@Suite struct LogLineTests {
    private func line(_ message: String, _ fields: [(name: String, value: LogLine.Value)] = []) -> LogLine {
        LogLine(time: Timestamp(microseconds: 1_500_000), level: .warning, message: message, fields: fields)
    }

    private func text(_ line: LogLine, _ format: LogFormat) -> String {
        String(decoding: line.bytes(format), as: UTF8.self)
    }

    @Test("A JSON line has the time, the level, the message and the fields in order")
    func json() {
        let line = line(
            "slow",
            [("status", .integer(200)), ("duration_ms", .decimal(1.25)), ("client", .text("a\"b"))]
        )
        #expect(
            text(line, .json)
                == #"{"time":"1970-01-01T00:00:01.5Z","level":"warning","message":"slow","status":200,"duration_ms":1.25,"client":"a\"b"}"#
                + "\n"
        )
    }

    @Test("A text line quotes values with spaces")
    func plainText() {
        let line = line("slow request", [("path", .text("/a")), ("reason", .text("two words")), ("n", .integer(1))])
        #expect(text(line, .text) == "1970-01-01T00:00:01.5Z warning: slow request path=/a reason=\"two words\" n=1\n")
    }

    @Test("The end of a quoted value is clear", arguments: [#"a "b" c"#, #"ends with \"#, #"\" x"#, " ", ""])
    func quotedValues(_ value: String) throws {
        let found = text(line("m", [("a", .text(value)), ("b", .integer(1))]), .text)
        let quoted = try #require(found.firstMatch(of: /m a=(".*") b=1\n$/)?.1)
        // The escapes are those of JSON.
        #expect(try JSONReader.parse(Array(quoted.utf8)) == .string(value))
    }

    @Test(
        "A message cannot imitate another line or control a terminal",
        arguments: ["a\nb", "a\r\nb", "a\u{1B}[31mb", "a\u{2028}b", "a\u{0}b", "a\u{85}b"]
    )
    func hostileText(_ message: String) {
        for format in LogFormat.allCases {
            let bytes = line(message, [("path", .text(message))]).bytes(format)
            #expect(bytes.filter { $0 == 10 }.count == 1)
            #expect(bytes.last == 10)
            #expect(!bytes.dropLast().contains { $0 < 0x20 || $0 == 0x7F })
        }
    }

    @Test("Nothing of a message is lost in JSON", arguments: ["a\nb", "a\u{1B}[31mb", "a\u{2028}b", "a\"\\b", "ž€😀"])
    func losslessJSON(_ message: String) throws {
        let json = try JSONReader.parse(Array(line(message).bytes(.json).dropLast()))
        #expect(json["message"] == .string(message))
    }
}
