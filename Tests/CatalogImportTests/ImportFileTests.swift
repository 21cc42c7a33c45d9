import Catalog
import CatalogImport
import CatalogJSON
import Foundation
import Platform
import Testing

/// Files as shops have them: encodings, separators, decimal marks and quirks.
@Suite(.timeLimit(.minutes(5))) struct ImportFileTests {
    private struct Outcome {
        var records: [ImportRecord] = []
        var rejections: [ImportRejection] = []
        var dialect = FileDialect()
        var warnings: [String] = []

        /// The products, as texts that can be compared.
        var products: [String] {
            records.map { "\($0.product.sku) \($0.product.name) \($0.product.priceMinor ?? -1)" }
        }
    }

    private func read(
        _ bytes: [UInt8],
        _ format: ImportOptions.Format = .csv,
        piece: Int = 1 << 16,
        currency: String = "EUR",
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        var options = ImportOptions(format: format, store: CatalogKey("s"), currency: Currency(currency)!)
        change(&options)
        var reader = ImportReader(options, currencies: [:])
        var outcome = Outcome()
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record): outcome.records.append(record)
            case .rejected(let rejection): outcome.rejections.append(rejection)
            case .header, .skipped: break
            }
        }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { try reader.read($0, take) }
        }
        try reader.end(take)
        (outcome.dialect, outcome.warnings) = (reader.dialect, reader.warnings)
        return outcome
    }

    private func read(
        _ text: String,
        currency: String = "EUR",
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        try read(Array(text.utf8), currency: currency, change)
    }

    // MARK: - The corpus

    /// Products whose names need an encoding, with prices in minor units.
    private enum Language: CaseIterable {
        case croatian, polish, german, french, russian

        var names: [String] {
            switch self {
            case .croatian:
                ["Čokolada s lješnjacima", "Pršut šunka", "Žganci", "Ćevapi s đumbirom", "Svježi sir", "Piškoti"]
            case .polish: ["Mleko świeże", "Masło łagodne", "Żurek", "Śmietana gęsta", "Ciasto z jabłkiem", "Chałka"]
            case .german: ["Käse", "Müsli", "Süßstoff", "Brötchen", "Größe M", "Öl für Salat"]
            case .french:
                [
                    "Crème fraîche", "Pâté de canard", "Gruyère râpé", "Thé à la menthe", "Bière brassée",
                    "Café moulu à l'été",
                ]
            case .russian:
                ["Молоко", "Сыр российский", "Хлеб ржаной", "Масло сливочное", "Чай чёрный", "Огурцы солёные"]
            }
        }

        var encodings: [(name: String, encoding: String.Encoding, mark: [UInt8])] {
            let unicode: [(String, String.Encoding, [UInt8])] = [
                ("utf-8", .utf8, []), ("utf-8", .utf8, [0xEF, 0xBB, 0xBF]),
                ("utf-16le", .utf16LittleEndian, []), ("utf-16le", .utf16LittleEndian, [0xFF, 0xFE]),
                ("utf-16be", .utf16BigEndian, []), ("utf-16be", .utf16BigEndian, [0xFE, 0xFF]),
            ]
            return switch self {
            case .croatian, .polish:
                unicode + [("windows-1250", .windowsCP1250, []), ("iso-8859-2", .isoLatin2, [])]
            case .german, .french: unicode + [("windows-1252", .windowsCP1252, [])]
            case .russian: unicode + [("windows-1251", .windowsCP1251, [])]
            }
        }
    }

    private enum Quirk: CaseIterable {
        case none, titleRows, emptyRows, sepLine, separatorAfterHeader, separatorAfterRows, quoted, unterminated
    }

    private static let prices: [Int64] = [129, 420, 99, 123_450, 1200, 250]

    private func text(_ names: [String], _ separator: Character, _ mark: Character, _ line: String, _ quirk: Quirk)
        -> String
    {
        func field(_ text: String) -> String {
            quirk == .quoted || text.contains(separator) ? "\"\(text)\"" : text
        }
        func row(_ fields: [String]) -> String { fields.map(field).joined(separator: String(separator)) }
        let empty = String(repeating: separator, count: 2)
        var lines = quirk == .sepLine ? ["sep=\(separator)"] : []
        if quirk == .titleRows { lines += ["Price list", "", "valid from today" + String(separator)] }
        if quirk == .emptyRows { lines.append(empty) }
        lines.append(row(["sku", "name", "price"]) + (quirk == .separatorAfterHeader ? String(separator) : ""))
        for (index, name) in names.enumerated() {
            let minor = Self.prices[index]
            let group = mark == "," ? "." : ","
            let whole = minor >= 100_000 ? "\(minor / 100_000)\(group)\(minor / 100 % 1000)" : "\(minor / 100)"
            let price = "\(whole)\(mark)\(minor % 100 < 10 ? "0" : "")\(minor % 100)"
            lines.append(row(["p\(index)", name, price]) + (quirk == .separatorAfterRows ? String(separator) : ""))
            if quirk == .emptyRows { lines.append(empty) }
        }
        return lines.joined(separator: line) + (quirk == .unterminated ? "" : line)
    }

    @Test(
        "The same products are read from every encoding, separator, decimal mark, line end and quirk",
        arguments: Language.allCases
    )
    private func readsCorpus(_ language: Language) throws {
        let expected = language.names.enumerated().map { "p\($0) \($1) \(Self.prices[$0])" }
        var count = 0
        for (name, encoding, mark) in language.encodings {
            for separator in [",", ";", "\t", "|"] as [Character] {
                for decimal in [".", ","] as [Character] {
                    for line in ["\n", "\r\n", "\r"] {
                        for quirk in Quirk.allCases {
                            let text = text(language.names, separator, decimal, line, quirk)
                            let bytes = mark + Array(try #require(text.data(using: encoding)))
                            let outcome = try read(bytes, piece: 7)
                            let label: Comment = "\(name) \(mark) \(separator) \(decimal) \(quirk) \(line.utf8.count)"
                            let isRead = outcome.products == expected && outcome.rejections.isEmpty
                            // A text that is not certain is rejected, never misread.
                            let isSafe =
                                outcome.products.allSatisfy(expected.contains)
                                && outcome.products.count + outcome.rejections.count == expected.count
                            #expect(language == .french && name == "windows-1252" ? isSafe : isRead, label)
                            if language != .french, language != .german {
                                #expect(outcome.dialect.encoding?.rawValue == name, label)
                            }
                            count += 1
                        }
                    }
                }
            }
        }
        #expect(count >= 7 * 4 * 2 * 3 * 8)
    }

    @Test("Text in an encoding that is not known is refused with the names of the known ones")
    func refusesUnknownEncodings() throws {
        let names = Language.russian.names.joined(separator: " и ")
        let koi8: [Character: UInt8] = Dictionary(
            uniqueKeysWithValues: zip("юабцдефгхийклмнопярстужвьызшэщчъ", UInt8(0xC0)...UInt8(0xDF)).map { ($0, $1) }
        )
        let bytes = names.lowercased().replacing("ё", with: "е").map { koi8[$0] ?? $0.asciiValue! }
        for body in [bytes, [0x81, 0x20, 0x81], [0xFF]] {
            let failure = #expect(throws: CatalogError.self) { try read(Array("sku,name\na,".utf8) + body + [0x0A]) }
            #expect("\(failure!)".contains("windows-1250, windows-1251, windows-1252, iso-8859-2"))
        }
        let bare = Array("sku,name\na,Caff\u{E9}\n".unicodeScalars.map { UInt8($0.value) })
        #expect(try read(bare) { $0.dialect.encoding = .windows1252 }.records.first?.product.name == "Caffé")
    }

    @Test("UTF-8 that is declared as another encoding is refused")
    func contradictedEncoding() throws {
        let text = Array("sku,name\na,Čokolada\n".utf8)
        let error = #expect(throws: CatalogError.self) { try read(text) { $0.dialect.encoding = .windows1250 } }
        #expect("\(error!)".contains("the file is UTF-8"))
        #expect(try read(text) { $0.dialect.encoding = .utf8 }.records.first?.product.name == "Čokolada")
        // A mark takes precedence, and ASCII is the same in both.
        #expect(try read([0xEF, 0xBB, 0xBF] + text) { $0.dialect.encoding = .windows1250 }.records.count == 1)
        #expect(try read(Array("sku,name\na,A\n".utf8)) { $0.dialect.encoding = .windows1250 }.records.count == 1)
    }

    @Test("A character that differs between two possible encodings rejects its row")
    func rejectsDisputedCharacters() throws {
        let text = "sku,name\na,Käse\nb,Crème\nc,Müsli\nd,Brötchen\n"
        let outcome = try read(Array(try #require(text.data(using: .windowsCP1252))))
        let names = outcome.records.map(\.product.name)
        #expect(names == ["Käse", "Müsli", "Brötchen"] || names == ["Käse", "Crème", "Müsli", "Brötchen"])
        for rejection in outcome.rejections { #expect(rejection.reason.contains("--encoding"), "\(rejection)") }
        let given = try read(Array(try #require(text.data(using: .windowsCP1252)))) {
            $0.dialect.encoding = .windows1252
        }
        #expect(given.records.map(\.product.name) == ["Käse", "Crème", "Müsli", "Brötchen"])
    }

    @Test("A separator in quoted titles does not count, and a header line can be set")
    func findsHeaders() throws {
        let quoted = try read("\"a,b,c,d,e\";sku;name\n1;x;Milk\n")
        #expect(quoted.products == ["x Milk -1"])
        let second = try read("sku,name\nsku,name\na,A\n") { $0.dialect.headerLine = 2 }
        #expect(second.products == ["a A -1"])
        #expect(second.dialect.headerLine == 2)
        let pipe = try read("sku|name\na,b|A\n") { $0.dialect.separator = .pipe }
        #expect(pipe.products == ["a,b A -1"])
    }

    @Test("A row with a value beyond the header is rejected; empty fields there are ignored")
    func checksWidths() throws {
        let outcome = try read("sku,name\na,A,\nb,B,x\nc,C,,\n,,,\nd\n")
        #expect(outcome.products == ["a A -1", "c C -1"])
        #expect(outcome.rejections.map(\.line) == [3, 6])
    }

    // MARK: - Numbers

    @Test(
        "A price is read right or rejected, by what its column shows",
        arguments: [
            (["4,20", "4.20", "1,234.50", "1.234,50", "1.234"], [420, 420, 123_450, 123_450, nil]),
            (
                ["€ 4.20", "4.20 EUR", "4.20€", "EUR4.20", "4.20 USD", "$4.20", "4.20 kn"],
                [420, 420, 420, 420, nil, nil, nil]
            ),
            (
                [".99", "4.", "+4.20", "4.2E0", "1'234.50", "1\u{A0}234,50", "-1", "5,-"],
                [99, 400, 420, nil, 123_450, 123_450, nil, 500]
            ),
            (["4.20", "1.299"], [420, nil]), (["4.2", "4.59", "4.589", "1000"], [420, 459, 459, 100_000]),
            (["0,99", "1.299"], [99, 129_900]), (["1.299", "2.499"], [nil, nil]),
            (["1.234.567", "1.234"], [123_456_700, 123_400]),
            (["1,29", "1,2345"], [129, 123]),
            (["1,23,456", "1.2.3", "4-20", "1,2 3", "Fr.4", "two"], [nil, nil, nil, nil, nil, nil]),
        ] as [([String], [Int64?])]
    )
    func readsPrices(_ texts: [String], _ expected: [Int64?]) throws {
        let rows = texts.enumerated().map { "p\($0)\tA\t\($1)\n" }.joined()
        let outcome = try read("sku\tname\tprice\n" + rows)
        let prices = Dictionary(
            uniqueKeysWithValues: outcome.records.map { ($0.product.sku.text, $0.product.priceMinor) }
        )
        for (index, price) in expected.enumerated() {
            #expect(prices["p\(index)"] ?? nil == price, "\(texts[index])")
        }
        #expect(outcome.rejections.allSatisfy { $0.column == "price" && !$0.reason.isEmpty })
    }

    private func file(_ name: String) throws -> [UInt8] {
        let url = try #require(
            Bundle.module.url(forResource: name, withExtension: "csv", subdirectory: "Cases/imports")
        )
        return Array(try Data(contentsOf: url))
    }

    @Test("A file of prices in many forms has no wrong price")
    func readsPriceTexts() throws {
        let outcome = try read(try file("price-texts")) { $0.store = nil }
        let prices = Dictionary(
            uniqueKeysWithValues: outcome.records.map { ($0.product.sku.text, $0.product.priceMinor) }
        )
        #expect(
            prices == [
                "P1": 420, "P2": 420, "P3": 123_450, "P4": 123_450, "P6": 420, "P7": 420, "P8": 99, "P9": 400,
                "Q1": 420,
                "Q3": 123_450,
            ]
        )
        #expect(outcome.rejections.map(\.value) == ["1.234", "4.2E0"])
    }

    @Test("A file of words for availability has no wrong availability")
    func readsAvailabilityWords() throws {
        let outcome = try read(try file("availability-words")) { $0.store = nil }
        #expect(outcome.records.map(\.product.sku.text) == ["S1", "S2", "S3", "S4", "S5", "S6", "S7"])
        #expect(
            outcome.records.filter { $0.unreadableStock == nil && $0.product.inStock }.map(\.product.sku.text) == ["S3"]
        )
    }

    @Test("The decimal mark can be set; a price with the other one is rejected")
    func decimalMarkIsSet() throws {
        let text = "sku\tname\tprice\na\tA\t1.234\nb\tB\t1,5\nc\tC\t1.5\n"
        let comma = try read(text) { $0.dialect.decimalMark = .comma }
        #expect(comma.products == ["a A 123400", "b B 150"])
        let point = try read(text) { $0.dialect.decimalMark = .point }
        #expect(point.products == ["a A 123", "c C 150"])
        #expect(try read("sku\tname\tprice\na\tA\t1.234\n", currency: "KWD").products == ["a A 1234"])
    }

    @Test("JSON numbers have a decimal point and may have an exponent")
    func readsJSONNumbers() throws {
        let rows = [
            #"{"sku":"a","name":"A","price":4.2e0}"#, #"{"sku":"b","name":"B","price":1.234}"#,
            #"{"sku":"c","name":"C","price":"1,29"}"#, #"{"sku":"d","name":"D","price":42E-1}"#,
            #"{"sku":"e","name":"E","price":1e99}"#,
        ]
        let outcome = try read(Array(rows.joined(separator: "\n").utf8), .ndjson)
        #expect(outcome.products == ["a A 420", "b B 123", "c C 129", "d D 420"])
        #expect(outcome.rejections.map(\.line) == [5])
    }

    @Test("An id that a spreadsheet has rounded is rejected", arguments: ["4.00633E+12", "4,00633E+12", "4E+12"])
    func rejectsRoundedSKUs(_ sku: String) throws {
        let outcome = try read("sku\tname\n\(sku)\tA\n4006330001234\tB\n")
        #expect(outcome.products == ["4006330001234 B -1"])
        #expect(outcome.rejections.first?.reason.contains("scientific notation") == true)
        #expect(SKUText.isSuspicious("4006330000000") && !SKUText.isSuspicious("4006330001234"))
    }

    // MARK: - Promotions and cells with several values

    @Test(
        "A promotion applies only between its dates",
        arguments: [
            ("", "", 99, ImportRecord.Promotion.current), ("2026-05-01", "2026-05-01", 99, .current),
            ("2026-05-02", "", 129, .future), ("", "2026-04-30", 129, .expired),
            ("01.05.2026", "2.5.2026", 99, .current),
            ("2026-05-01T13:00:00Z", "", 129, .future), ("", "2020-12-31", 129, .expired), ("soon", "", 129, .current),
        ] as [(String, String, Int64, ImportRecord.Promotion)]
    )
    func promotionsHaveDates(_ from: String, _ to: String, _ price: Int64, _ promotion: ImportRecord.Promotion) throws {
        let text = "sku,name,price,promo_price,promo_from,promo_to\na,A,1.29,0.99,\(from),\(to)\n"
        let outcome = try read(text) { $0.now = Timestamp(rfc3339: "2026-05-01T12:00:00Z")! }
        let record = try #require(outcome.records.first)
        #expect(record.product.priceMinor == price)
        #expect(record.promotion == promotion)
        #expect(record.emptied.isEmpty == (from != "soon"))
    }

    @Test("Words and numbers of pieces state the availability, and other texts are unknown")
    func readsAvailability() throws {
        let words = [
            "true": true, "nedostupno": false, "out_of_stock": false, "ja": true, "0,0000": false, "-2": false,
            "7": true,
        ]
        for (word, expected) in words {
            let record = try #require(try read("sku\tname\tin_stock\na\tA\t\(word)\n").records.first)
            #expect(record.product.inStock == expected && record.unreadableStock == nil, "\(word)")
        }
        let unknown = try #require(try read("sku,name,in_stock\na,A,wobbly\n").records.first?.unreadableStock)
        #expect(unknown.value == "wobbly" && unknown.column == "in_stock")
    }

    @Test("Commas separate tags only if the file shows it")
    func readsTags() throws {
        func tags(_ cells: [String]) throws -> [[String]] {
            let rows = cells.enumerated().map { "p\($0)\tA\t\($1)\n" }.joined()
            return try read("sku\tname\ttags\n" + rows).records.map(\.product.tags)
        }
        #expect(try tags(["bio, new", "new", "old, bio"]) == [["bio", "new"], ["new"], ["old", "bio"]])
        #expect(try tags(["red, fresh", "other"]) == [["red, fresh"], ["other"]])
        #expect(try tags(["a, b|c", "a"]) == [["a, b", "c"], ["a"]])
    }

    @Test("The first of several image addresses counts")
    func readsImages() throws {
        let cell = "https://x/a,1.png, https://x/b.png|https://x/c.png"
        let record = try #require(try read("sku\tname\timage_url\na\tA\t\(cell)\n").records.first)
        #expect(record.product.imageURL == "https://x/a,1.png" && record.ignoredImages == 2)
    }

    @Test("A constant fills a column that the file lacks")
    func readsConstants() throws {
        let outcome = try read("sku,name\na,A\n") {
            $0.profile.mapping.set(.shelf, constant: "Dairy"); $0.profile.mapping.set(.price, constant: "1.50")
        }
        #expect(outcome.records.first?.shelves == [["Dairy"]])
        #expect(outcome.products == ["a A 150"])
    }

    // MARK: - Rejected rows

    @Test(
        "The file of rejected rows is imported with the same options once it is corrected",
        arguments: FieldSeparator.allCases
    )
    func rejectedRowsAreImportedAgain(_ separator: FieldSeparator) throws {
        let mark = String(Unicode.Scalar(separator.byte))
        let table = [
            ["title"], ["sku", "name", "price"], ["a", "A", "1.5"], ["b", "B \"x\"\(mark)y", "wrong"],
            ["c", "C", "2.50"],
        ]
        let text = table.map { $0.map { CSVReader.field($0, separator) }.joined(separator: mark) + "\n" }.joined()
        func options(_ options: inout ImportOptions) {
            options.keepsRejectedRows = true
            options.dialect = FileDialect(separator: separator, headerLine: 2)
        }
        let first = try read(text, options)
        let rejection = try #require(first.rejections.first)
        let header = RejectedRow.header(try #require(rejection.header), separator, line: 2)
        let file = header + RejectedRow.line(rejection, .csv, separator)
        let again = try read(file, options)
        #expect(again.rejections.map(\.reason) == [rejection.reason])
        let corrected = try read(file.replacing("\(mark)wrong\n", with: "\(mark)3.25\n"), options)
        #expect(corrected.products == ["b B \"x\"\(separator == .tab ? " " : mark)y 325"])
        #expect(corrected.rejections.isEmpty && corrected.warnings.isEmpty)
    }

    @Test("Rejected rows of NDJSON are imported again once they are corrected")
    func rejectedObjectsAreImportedAgain() throws {
        let text = #"{"sku":"b","name":"B","price":"wrong"}"# + "\n"
        func options(_ options: inout ImportOptions) { options.keepsRejectedRows = true }
        let rejection = try #require(try read(Array(text.utf8), .ndjson, options).rejections.first)
        let line = RejectedRow.line(rejection, .ndjson, .comma)
        #expect(line.contains("rejected_reason"))
        let corrected = try read(
            Array(line.replacing(#""price":"wrong""#, with: #""price":"3.25""#).utf8),
            .ndjson,
            options
        )
        #expect(corrected.products == ["b B 325"])
    }
}

/// Compressed files.
@Suite(.timeLimit(.minutes(15))) struct FileContentTests {
    private struct Chunks: AsyncSequence, Sendable {
        let bytes: [UInt8]
        let size: Int
        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>
            let size: Int
            mutating func next() async -> [UInt8]? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return Array(rest.prefix(size))
            }
        }
        func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...], size: size) }
    }

    private func content(_ bytes: [UInt8], size: Int = 4096, mustBeGzip: Bool = false) async throws -> [UInt8] {
        var content: [UInt8] = []
        for try await piece in FileContent(Chunks(bytes: bytes, size: size), mustBeGzip: mustBeGzip) {
            content += piece
        }
        return content
    }

    private func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> ($0 * 8) & 0xFF) } }

    /// Builds a zip archive.
    private func zip(_ files: [(name: String, content: [UInt8])], isStored: Bool = false, hasDescriptor: Bool = false)
        -> [UInt8]
    {
        var archive: [UInt8] = []
        for (name, content) in files {
            // A gzip file has the same deflated data and checksum.
            let gzip = Gzip.compress(content)!
            let (data, checksum) = (
                isStored ? content : Array(gzip[10..<(gzip.count - 8)]), Array(gzip.suffix(8).prefix(4))
            )
            let sizes = little(data.count, 4) + little(content.count, 4)
            archive +=
                [0x50, 0x4B, 3, 4] + little(20, 2) + little(hasDescriptor ? 8 : 0, 2) + little(isStored ? 0 : 8, 2)
            archive += little(0, 4) + (hasDescriptor ? [UInt8](repeating: 0, count: 12) : checksum + sizes)
            archive += little(name.utf8.count, 2) + little(0, 2) + Array(name.utf8) + data
            if hasDescriptor { archive += [0x50, 0x4B, 7, 8] + checksum + sizes }
        }
        archive += [0x50, 0x4B, 1, 2] + [UInt8](repeating: 0, count: 42)
        return archive + [0x50, 0x4B, 5, 6] + [UInt8](repeating: 0, count: 18)
    }

    private static let text = Array((0..<20_000).map { "\($0 * 7919 % 10_007),name \($0)\n" }.joined().utf8)

    @Test(
        "Plain files, gzip files and zip archives have the same content, in pieces of any size",
        arguments: [1, 7, 4096, 1 << 20]
    )
    func readsArchives(_ size: Int) async throws {
        let file = Array(Self.text.prefix(size == 1 ? 3000 : .max))
        #expect(try await content(file, size: size) == file)
        #expect(try await content([], size: size) == [])
        #expect(try await content(Gzip.compress(file)!, size: size) == file)
        #expect(try await content(Gzip.compress(file)! + Gzip.compress(file)! + [0, 0], size: size) == file + file)
        for (isStored, hasDescriptor) in [(false, false), (false, true), (true, false)] {
            let files = [("folder/", []), ("folder/a.csv", file), ("__MACOSX/._a.csv", [1, 2])]
            let archive = zip(files, isStored: isStored, hasDescriptor: hasDescriptor)
            #expect(try await content(archive, size: size) == file)
        }
    }

    @Test("A truncated or damaged archive is an error at any byte")
    func refusesDamagedArchives() async throws {
        let file = Array(Self.text.prefix(2000))
        for archive in [Gzip.compress(file)!, zip([("a.csv", file)]), zip([("a.csv", file)], hasDescriptor: true)] {
            for length in 4..<archive.count {
                await #expect(throws: CatalogError.self, "\(length)") {
                    try await content(Array(archive.prefix(length)))
                }
            }
            var damaged = archive
            damaged[archive.count / 2] ^= 0x55
            await #expect(throws: CatalogError.self) { try await content(damaged) }
        }
    }

    @Test("A zip archive with several files is refused with their names, and one without a file is refused")
    func refusesSeveralFiles() async throws {
        let archive = zip([("a.csv", [1]), ("b.csv", [2])])
        let failure = await #expect(throws: CatalogError.self) { try await content(archive) }
        #expect("\(failure!)".contains("a.csv, b.csv"))
        let empty = zip([("folder/", [])])
        await #expect(throws: CatalogError.self) { try await content(empty) }
    }

    @Test("A content of more than 250 times the size of its file is refused")
    func refusesBombs() async throws {
        let bomb = Gzip.compress([UInt8](repeating: 0x61, count: 100 << 20))!
        let failure = await #expect(throws: CatalogError.self) {
            for try await _ in FileContent(Chunks(bytes: bomb, size: 1 << 16)) {}
        }
        #expect("\(failure!)".contains("250 times"))
    }

    @Test("A body that must be gzip is refused if it is not")
    func refusesOtherBodies() async throws {
        await #expect(throws: CatalogError.self) { try await content(Self.text, mustBeGzip: true) }
    }
}
