import Testing

@testable import Platform

/// Compressed files and XML, byte by byte.
@Suite("Compressed files and XML", .timeLimit(.minutes(15))) struct DecompressorTests {
    /// Reads a file in pieces; the content, and the reason of a fault.
    private static func read(_ file: [UInt8], piece: Int = 1 << 16) -> (content: [UInt8], fault: String?, name: String?)
    {
        var decompressor = Decompressor()
        var content: [UInt8] = []
        do {
            for start in stride(from: 0, to: file.count, by: piece) {
                try decompressor.read(Array(file[start..<min(file.count, start + piece)])) { content += $0 }
            }
            try decompressor.end { content += $0 }
        } catch let fault as Decompressor.Fault {
            return (content, fault.reason, decompressor.fileName)
        } catch {
            return (content, "\(error)", nil)
        }
        return (content, nil, decompressor.fileName)
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> ($0 * 8) & 0xFF) }
    }

    /// A file of a zip archive, and how it is stored.
    private struct Entry {
        var name = "a.csv"
        var content = Array("hello, hello, hello".utf8)
        var flags = 0
        var method = 8
        var size: Int?
        var extra = 0
        /// The descriptor after the data: its signature, and the bytes of each size.
        var descriptor: (hasSignature: Bool, sizeLength: Int)?
        var damage: UInt8 = 0
    }

    private static func zip(_ entries: [Entry], start: Int = 0x0201_4B50, endSize: Int = 22) -> [UInt8] {
        var archive: [UInt8] = []
        for entry in entries {
            let gzip = Gzip.compress(entry.content)!
            let data = entry.method == 8 ? Array(gzip[10..<(gzip.count - 8)]) : entry.content
            var checksum = Array(gzip.suffix(8).prefix(4))
            checksum[0] ^= entry.damage
            let flags = entry.flags | (entry.descriptor == nil ? 0 : 8)
            archive +=
                little(0x0403_4B50, 4) + little(20, 2) + little(flags, 2) + little(entry.method, 2) + little(0, 4)
            archive += entry.descriptor == nil ? checksum : little(0, 4)
            archive +=
                little(entry.size ?? (entry.descriptor == nil ? data.count : 0), 4) + little(entry.content.count, 4)
            archive += little(entry.name.utf8.count, 2) + little(entry.extra, 2) + Array(entry.name.utf8)
            archive += [UInt8](repeating: 7, count: entry.extra) + data
            if let (hasSignature, length) = entry.descriptor {
                archive += hasSignature ? little(0x0807_4B50, 4) : []
                archive += checksum + little(data.count, length) + little(entry.content.count, length)
            }
        }
        archive += little(start, 4) + [UInt8](repeating: 0, count: 42)
        return archive + little(0x0605_4B50, 4) + [UInt8](repeating: 0, count: endSize - 4)
    }

    private static let hello = Entry().content

    @Test("Archives of one file are read, whatever comes with it", arguments: [1, 3, 1 << 16])
    func archives(_ piece: Int) {
        let archives: [[Entry]] = [
            [Entry()], [Entry(method: 0)], [Entry(extra: 5)], [Entry(descriptor: (true, 4))],
            [Entry(descriptor: (false, 4))], [Entry(descriptor: (true, 8))], [Entry(descriptor: (false, 8))],
            [Entry(name: "d/", content: [], method: 0), Entry(name: "d/a.csv")],
            [Entry(name: "__MACOSX/._a.csv", method: 0), Entry(), Entry(name: "x/.DS_Store", method: 0)],
            [Entry(name: ".DS_Store"), Entry(descriptor: (true, 4)), Entry(name: "e/", content: [], method: 0)],
        ]
        for archive in archives {
            let found = Self.read(Self.zip(archive), piece: piece)
            #expect(found.content == Self.hello && found.fault == nil, "\(archive)")
            #expect(found.name?.hasSuffix("a.csv") == true)
        }
        let empty = Self.read(Self.zip([Entry(content: [], method: 0)]), piece: piece)
        #expect(empty.content == [] && empty.fault == nil)
        for start in [0x0201_4B50, 0x0605_4B50, 0x0606_4B50, 0x0807_4B50, 0x0806_4B50] {
            #expect(Self.read(Self.zip([Entry()], start: start), piece: piece).fault == nil)
        }
    }

    @Test("Other archives are refused with the reason")
    func refusedArchives() {
        let damaged = "the zip archive is damaged; transfer it again"
        let method = "the zip archive uses a method that is not supported; use deflate, or gzip"
        let cases: [(archive: [UInt8], reason: String)] = [
            (Self.zip([Entry(flags: 1)]), "the zip archive is encrypted; extract it"),
            (Self.zip([Entry(method: 9)]), method), (Self.zip([Entry(method: 0, descriptor: (true, 4))]), method),
            (Self.zip([Entry(method: 0, size: 0xFFFF_FFFF)]), method), (Self.zip([Entry(damage: 1)]), damaged),
            (Self.zip([Entry(method: 0, damage: 1)]), damaged),
            (Self.zip([Entry(descriptor: (true, 4), damage: 1)]), damaged),
            (Self.zip([Entry(content: [], method: 0, damage: 1)]), damaged),
            (Self.zip([Entry()], start: 0x0201_4B51), damaged),
            (Self.zip([Entry()], endSize: 21), "the zip archive is truncated; transfer it again"),
            (Self.zip([Entry(name: "d/", content: [], method: 0)]), "the zip archive has no file"),
        ]
        for (archive, reason) in cases { #expect(Self.read(archive).fault == reason) }
        func names(_ count: Int) -> String? {
            Self.read(Self.zip((0..<count).map { Entry(name: "f\($0)") })).fault
        }
        let ten = (0..<10).map { "f\($0)" }.joined(separator: ", ")
        #expect(names(2) == "the zip archive has several files (f0, f1); extract the one to import")
        #expect(names(10) == "the zip archive has several files (\(ten)); extract the one to import")
        #expect(names(11) == "the zip archive has several files (\(ten)); extract the one to import")
        // Only the first file is passed on.
        let second = Self.read(Self.zip([Entry(), Entry(name: "b", content: [1, 2])]))
        #expect(second.content == Self.hello && second.name == "a.csv")
        let long = Self.read(Self.zip([Entry(name: String(repeating: "x", count: 101))]))
        #expect(long.name == String(repeating: "x", count: 100) && long.fault == nil)
    }

    @Test("The form of a file is known by its first four bytes")
    func forms() throws {
        for (file, isPlain) in [([0x1F, 0x8B], false), ([1, 2, 3], false), ([1, 2, 3, 4], true)] as [([UInt8], Bool)] {
            var decompressor = Decompressor()
            var content: [UInt8] = []
            try decompressor.read(file) { content += $0 }
            #expect(decompressor.isPlain == isPlain && decompressor.fileName == nil)
            #expect(content == (isPlain ? file : []))
        }
        #expect(Self.read([1, 2]).content == [1, 2])
        #expect(Self.read([]).content == [])
        #expect(Self.read([0x1F, 0x8B, 8]).fault == "the compressed file is truncated; transfer it again")
        var gzip = Gzip.compress(Self.hello)!
        #expect(Self.read(gzip + [0, 0, 0]).content == Self.hello)
        #expect(Self.read(gzip + [0] + gzip).content == Self.hello + Self.hello)
        #expect(Self.read(gzip + [1]).fault != nil)
        gzip[gzip.count - 5] ^= 1
        #expect(Self.read(gzip).fault == "the compressed file is damaged; transfer it again")
        var required = Decompressor(mustBeGzip: true)
        #expect(throws: Decompressor.Fault(reason: "the body is not in the gzip format")) {
            try required.read([1, 2, 3, 4]) { _ in }
        }
    }

    @Test("Up to 64 MiB are read from a file of any size", arguments: [(64 << 20, true), (64 << 20 + 1, false)])
    func ratio(_ size: Int, _ isRead: Bool) throws {
        let file = try #require(Gzip.compress([UInt8](repeating: 0, count: size), level: 9))
        var decompressor = Decompressor()
        var count = 0
        var fault: Decompressor.Fault?
        do {
            try decompressor.read(file) { piece in
                #expect(piece.count <= 64 << 10)
                count += piece.count
            }
            try decompressor.end { _ in }
        } catch let found as Decompressor.Fault { fault = found }
        #expect((fault == nil) == isRead)
        #expect(count <= 64 << 20)
    }

    @Test("A higher level compresses better", arguments: [1, 6])
    func levels(_ level: Int32) throws {
        let bytes = Array((0..<20_000).map { "\($0 * 7919 % 1009)," }.joined().utf8)
        let (low, high) = (
            try #require(Gzip.compress(bytes, level: level)), try #require(Gzip.compress(bytes, level: 9))
        )
        #expect(high.count <= low.count)
        #expect(Self.read(low).content == bytes && Self.read(high).content == bytes)
        #expect(Gzip.compress(bytes) == Gzip.compress(bytes, level: 6))
    }

    // MARK: - XML

    private static func events(
        _ text: [UInt8],
        encoding: String? = nil,
        characters: @escaping (String) -> [UInt32]? = { _ in nil }
    ) -> (events: [String], fault: XMLStream.Fault?) {
        let stream = XMLStream(encoding: encoding, characters: characters)
        var events: [String] = []
        do {
            try text.withUnsafeBytes { bytes in
                try stream.read(bytes, isLast: true) { event in
                    switch event {
                    case .start(let name, let attributes, let line):
                        let pairs = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                        events.append("\(line):<\(([name] + pairs).joined(separator: " "))>")
                    case .end(let line): events.append("\(line):</>")
                    case .text(let bytes): events.append(String(decoding: bytes, as: UTF8.self))
                    }
                }
            }
        } catch { return (events, error as? XMLStream.Fault) }
        return (events, nil)
    }

    @Test("Elements have their names, attributes, lines and texts")
    func elements() {
        let found = Self.events(Array("<a x='1' y='2'>\n<b/>t<c>u</c>\n</a>".utf8))
        #expect(found.events == ["1:<a x=1 y=2>", "\n", "2:<b>", "2:</>", "t", "2:<c>", "u", "2:</>", "\n", "3:</>"])
        #expect(found.fault == nil)
        let broken = Self.events(Array("<a>\n</b>".utf8))
        #expect(broken.fault == XMLStream.Fault(line: 2, reason: "is not well-formed XML: mismatched tag"))
        let typed = Self.events(Array("\n<!DOCTYPE a>\n<a/>".utf8))
        #expect(typed.fault?.line == 2 && typed.events.isEmpty)
        #expect(typed.fault?.reason.hasPrefix("has a document type") == true)
    }

    @Test("Elements are at most 32 levels deep, and siblings have the same level")
    func depth() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)).utf8)
        }
        #expect(Self.events(nested(32)).fault == nil)
        #expect(
            Self.events(nested(33)).fault == XMLStream.Fault(line: 1, reason: "has elements more than 32 levels deep")
        )
        #expect(Self.events(Array("<a>\(String(repeating: "<b></b>", count: 40))</a>".utf8)).fault == nil)
    }

    @Test("A comment of more than 1 MiB is refused")
    func tokens() {
        func comment(_ length: Int) -> [UInt8] { Array("<a><!--\(String(repeating: "x", count: length))--></a>".utf8) }
        #expect(Self.events(comment(1 << 20)).fault == nil)
        let fault = Self.events(comment((1 << 20) + (3 << 16))).fault
        #expect(fault == XMLStream.Fault(line: 1, reason: "has a tag or a comment of more than 1048576 bytes"))
    }

    @Test("An encoding that is not built in has the characters that the caller knows")
    func encodings() {
        let upper = (0..<128).map { UInt32(0x400 + $0) }
        let document =
            Array("<?xml version='1.0' encoding='X-Test'?><a>".utf8) + [0x41, 0x80, 0xFF] + Array("</a>".utf8)
        let found = Self.events(document) { name in name == "x-test" ? upper : nil }
        #expect(found.events.joined() == "1:<a>A\u{400}\u{47F}1:</>" && found.fault == nil)
        #expect(Self.events(document).fault?.reason == "is not well-formed XML: unknown encoding")
        #expect(Self.events(document) { _ in Array(upper.dropLast()) }.fault != nil)
        #expect(Self.events(document) { _ in upper + [65] }.fault != nil)
        var missing = upper
        missing[127] = 0xFFFD
        #expect(Self.events(document) { _ in missing }.fault?.reason.contains("invalid token") == true)
        let latin = Self.events([0x3C, 0x61, 0x3E, 0xE9, 0x3C, 0x2F, 0x61, 0x3E], encoding: "ISO-8859-1")
        #expect(latin.events.joined() == "1:<a>é1:</>")
    }

    private struct TestError: Error {}

    @Test("An error of the reader ends the document")
    func readerErrors() {
        let stream = XMLStream(encoding: nil) { _ in nil }
        var count = 0
        #expect(throws: TestError.self) {
            try Array("<a><b/><c/></a>".utf8).withUnsafeBytes { bytes in
                try stream.read(bytes) { _ in
                    count += 1
                    throw TestError()
                }
            }
        }
        #expect(count == 1)
    }
}
