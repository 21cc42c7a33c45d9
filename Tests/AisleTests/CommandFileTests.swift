import Catalog
import Foundation
import Platform
import Testing

@testable import aisle

/// The files that commands read and write, and the rejected rows in them.
@Suite struct CommandFileTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: "aisle-files-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func file(_ name: String, _ text: String = "") throws -> String {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            return "\(path)/\(name)"
        }

        func text(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }
    }

    @Test("A file is read in pieces of at most the wanted size, to its end")
    func reads() async throws {
        let folder = try Folder()
        let text = String(repeating: "0123456789", count: 60_000)
        let path = try folder.file("a", text)
        let file = try InputFile(path)
        #expect(file.size == 600_000)
        #expect(try file.read(upTo: 7) == Array("0123456".utf8))
        #expect(try file.read(upTo: 5) == Array("78901".utf8))
        #expect(try file.readToEnd().count == 600_000 - 12)
        #expect(try file.read(upTo: 5) == [])
        #expect(try InputFile.contents(path) == Array(text.utf8))
        let chunks = try FileChunks(path: path)
        #expect(chunks.size == 600_000)
        var bytes: [UInt8] = []
        for try await piece in chunks {
            #expect(!piece.isEmpty && piece.count <= 1 << 18)
            bytes += piece
            #expect(chunks.progress.read == bytes.count)
        }
        #expect(bytes == Array(text.utf8))
        var single: [[UInt8]] = []
        for await piece in SingleChunk(bytes: [1, 2]) { single.append(piece) }
        #expect(single == [[1, 2]])
    }

    @Test("A file that cannot be read or written is an error with the reason")
    func errors() throws {
        let folder = try Folder()
        let none = folder.path + "/none/a"
        let read = #expect(throws: CommandFailure.self) { try InputFile(none) }
        #expect(read?.message == "cannot read \(none): No such file or directory" && read?.code == 66)
        let directory = #expect(throws: CommandFailure.self) { try InputFile(folder.path) }
        #expect(directory?.message == "\(folder.path) is a directory, not a file" && directory?.code == 66)
        let write = #expect(throws: CommandFailure.self) { try OutputFile(none, option: "--out") }
        #expect(write?.message == "cannot write \(none): No such file or directory" && write?.code == 73)
        let input = try folder.file("input", "x")
        for path in [input, folder.path + "/./input"] {
            let own = #expect(throws: CommandFailure.self) { try OutputFile(path, option: "--out", input: input) }
            #expect(own?.message == "--out must not be the input file" && own?.code == 64)
        }
        #expect(try folder.text("input") == "x")
        // Nothing can be read at the address 0.
        let memory = try InputFile("/proc/self/mem")
        let unreadable = #expect(throws: CommandFailure.self) { try memory.read(upTo: 16) }
        #expect(unreadable?.message == "cannot read /proc/self/mem: Input/output error" && unreadable?.code == 66)
        let full = try OutputFile("/dev/full", option: "--out")
        let failure = #expect(throws: CommandFailure.self) { try full.write("x") }
        #expect(failure?.message == "cannot write /dev/full: No space left on device" && failure?.code == 1)
    }

    @Test("An output file is overwritten, and its text is complete")
    func writes() throws {
        let folder = try Folder()
        let path = try folder.file("out", "a longer text")
        let file = try OutputFile(path, option: "--out", input: folder.path + "/other")
        try file.write("a\n")
        try file.write("b\n")
        try file.finish()
        #expect(try folder.text("out") == "a\nb\n")
        // A device that cannot be flushed is not an error.
        try OutputFile("/dev/null", option: "--out").finish()
    }

    private static func rejection(_ line: Int, row: String? = nil, separator: FieldSeparator? = nil) -> ImportRejection
    {
        var rejection = ImportRejection(line: line, column: "sku", value: "x", reason: "is wrong")
        rejection.keep(row: row, header: row == nil ? nil : "sku,name", separator: separator)
        return rejection
    }

    @Test("The file of rejected rows has one header, and the frame of XML")
    func rejections() throws {
        let folder = try Folder()
        func saved(
            _ format: ImportOptions.Format,
            _ dialect: FileDialect = FileDialect(),
            hasVariants: Bool = false,
            of rejections: [ImportRejection]
        ) throws -> String {
            let path = folder.path + "/rejects"
            let record = TerminalRecord()
            try TaskContext(terminal: record).run {
                let all = try Rejections(
                    file: path,
                    input: folder.path + "/in",
                    format,
                    dialect,
                    hasVariants: hasVariants
                )
                for rejection in rejections { try all.add(rejection) }
                #expect(all.count == rejections.count && all.first.count == rejections.count)
                try all.end()
                // Rows that are read a second time have no effect.
                for rejection in rejections { try all.add(rejection) }
                try all.end()
                #expect(all.count == rejections.count)
            }
            #expect(record.notes == rejections.map { "rejected: line \($0.line), sku: “x” is wrong\n" }.joined())
            return try folder.text("rejects")
        }
        let header = "rejected_line,rejected_column,rejected_value,rejected_reason,sku,name\n"
        let rows = [Self.rejection(2, row: "x,A"), Self.rejection(3, row: "x,B")]
        #expect(try saved(.csv, of: rows) == header + "2,sku,x,is wrong,x,A\n3,sku,x,is wrong,x,B\n")
        #expect(try saved(.csv, of: []) == "")
        #expect(try saved(.xml, of: []) == "")
        // The header is on the line where the options expect it.
        #expect(try saved(.csv, FileDialect(headerLine: 3), of: [rows[0]]).hasPrefix("\n\n" + header))
        let semicolon = header.replacing(",", with: ";").replacing("sku;name", with: "sku,name")
        #expect(try saved(.csv, FileDialect(separator: .semicolon), of: [rows[0]]).hasPrefix(semicolon))
        let tab = try saved(
            .csv,
            FileDialect(separator: .semicolon),
            of: [Self.rejection(2, row: "x", separator: .tab)]
        )
        #expect(tab.hasPrefix("rejected_line\trejected_column\t"))
        #expect(
            try saved(.csv, hasVariants: true, of: [rows[0]]).contains(",rejected_reason,rejected_variant,sku,name\n")
        )
        let xml = try saved(.xml, of: [Self.rejection(2, row: "<item><a>1</a></item>")])
        #expect(xml.contains("<rejected_line>2</rejected_line>"))
        #expect(xml.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rejected>\n"))
        #expect(xml.hasSuffix("</rejected>\n"))
        #expect(try saved(.ndjson, of: [Self.rejection(2, row: #"{"sku":"x"}"#)]).hasPrefix(#"{"rejected_line":2,"#))
    }

    @Test("Without a file, rejected rows are printed only")
    func printedRejections() throws {
        let record = TerminalRecord()
        try TaskContext(terminal: record).run {
            let all = try Rejections(file: nil, input: "-", .csv, FileDialect())
            for line in 1...1001 { try all.add(Self.rejection(line)) }
            try all.end()
            #expect(all.count == 1001 && all.first.count == 1000)
        }
        let lines = record.notes.split(separator: "\n")
        #expect(lines.count == 21)
        #expect(lines.last == "rejected: and 981 more; use --rejects FILE to save all of them")
    }
}
