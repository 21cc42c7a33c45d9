import Catalog
import CatalogImport
import CatalogJSON
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct SizeColumnsTests {
    private func read(
        _ text: String,
        sizes: SizeContexts = SizeContexts(),
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> [ImportRecord] {
        var options = ImportOptions(format: .csv, store: CatalogKey("s"), currency: Currency("EUR")!)
        change(&options)
        var reader = ImportReader(options, currencies: [:], sizes: sizes)
        var records: [ImportRecord] = []
        func take(_ event: ImportReader.Event) {
            switch event {
            case .record(let record): records.append(record)
            case .rejected(let rejection): Issue.record("\(rejection.description)")
            case .header, .skipped: break
            }
        }
        try Array(text.utf8).withUnsafeBytes { try reader.read($0) { take($0) } }
        try reader.end { take($0) }
        return records
    }

    /// Reads one row with these columns.
    private func row(
        _ values: [(String, String)],
        name: String = "Tea",
        sizes: SizeContexts = SizeContexts(),
        readsNames: Bool = false
    ) throws -> ImportRecord {
        let quoted = (["a", name] + values.map(\.1)).map { "\"\($0)\"" }.joined(separator: ",")
        let header = (["sku", "name"] + values.map(\.0)).joined(separator: ",")
        return try #require(
            try read("\(header)\n\(quoted)\n", sizes: sizes) { $0.profile.readsSizeFromName = readsNames }.first
        )
    }

    private func text(_ size: Size?) -> String? {
        size.map { "\($0.packs)x\($0.amount)\($0.drained.map { "/\($0)" } ?? "") \($0.unit.rawValue)" }
    }

    private func records(of name: String) throws -> [ImportRecord] {
        let url = Bundle.module.url(forResource: name, withExtension: "csv", subdirectory: "Cases")!
        return try read(try String(contentsOf: url, encoding: .utf8)) { $0.store = nil }
    }

    @Test("A number of packs in any notation is never dropped")
    func multipacksAreRead() throws {
        let records = try records(of: "import-multipacks")
        #expect(records.count == 15)
        for record in records where record.product.sku.text != "REF" {
            guard let size = record.product.size else { continue }
            #expect(size.packs == 4 && size.unit == .g, "\(record.product.name)")
        }
        // “4 à 400 g” may be a range; all others are understood.
        #expect(records.filter { $0.product.size == nil }.map(\.product.sku.text) == ["A"])
    }

    @Test("The columns of a size complete a text as they complete a number")
    func columnsCompleteTexts() throws {
        let sizes = try records(of: "import-size-columns").map {
            "\($0.product.sku.text) \(text($0.product.size) ?? "-")"
        }
        #expect(
            sizes == [
                "NUM 3x400/240 g", "TXT 3x400/240 g", "TXTU 3x400/240 g", "COMMA 2x0.75 l", "POINT 2x0.75 l",
                "DRTXT 1x400/240 g", "PKCOL 6x330 ml",
            ]
        )
    }

    @Test("Columns that contradict each other leave the size unknown, and are reported with their value")
    func contradictionsAreReported() throws {
        for (values, column) in [
            ([("size", "6 x 330 ml"), ("pack_count", "4")], "pack_count"),
            ([("size", "400 g"), ("unit", "l")], "unit"),
            ([("size", "10 pcs"), ("pack_count", "10")], "pack_count"),
            ([("size", "400 g"), ("drained", "500")], "drained"),
            ([("size", "400 g (240 g drained)"), ("drained", "250")], "drained"),
            ([("size", "400"), ("unit", "g"), ("drained", "1 l")], "drained"),
            ([("size", "400"), ("unit", "g"), ("drained", "x")], "drained"),
        ] {
            let record = try row(values)
            #expect(record.product.size == nil, "\(values)")
            #expect(record.emptied.map(\.column) == [column], "\(values)")
            #expect(record.unknownSize != nil)
        }
    }

    @Test("A number of packs completes a text that has none, unless the text is the same number of pieces")
    func packsCompleteTexts() throws {
        for (size, packs, expected) in [
            ("6 kg", "6", "6x6 kg"), ("6 pcs", "4", "4x6 piece"), ("6 pcs", "6", nil), ("1 pcs", "6", "6x1 piece"),
        ] as [(String, String, String?)] {
            #expect(
                text(try row([("size", size), ("pack_count", packs)]).product.size) == expected,
                "\(size) \(packs)"
            )
        }
    }

    @Test("Columns that say the same agree")
    func equalColumnsAgree() throws {
        for (values, expected) in [
            ([("size", "6 x 330 ml"), ("pack_count", "6")], "6x330 ml"),
            ([("size", "6 x 330 ml"), ("pack_count", "1")], "6x330 ml"),
            ([("size", "500 g"), ("unit", "kg")], "1x500 g"),
            ([("size", "500 g"), ("unit", "kom")], "1x500 g"),
            ([("size", "1 kg"), ("drained", "600 g")], "1x1/0.6 kg"),
            ([("size", "400 g (240 g drained)"), ("drained", "240")], "1x400/240 g"),
            ([("size", "~0,5"), ("unit", "kg")], "1x0.5 kg"), ([("size", "2"), ("unit", "Dutzend")], "1x2 dozen"),
            ([("size", "400"), ("unit", "г")], "1x400 g"),
        ] {
            let record = try row(values)
            #expect(text(record.product.size) == expected, "\(values)")
            #expect(record.emptied.isEmpty)
        }
    }

    @Test("A size without a unit, or with an unknown one, is unknown and counted with its text")
    func sizesWithoutUnitAreUnknown() throws {
        #expect(try row([("size", "12")]).unknownSize == "12")
        #expect(try row([("size", "12"), ("unit", "blobs")]).unknownSize == "12 blobs")
        #expect(try row([("size", "1,500"), ("unit", "g")]).unknownSize == "1,500 g")
        #expect(text(try row([("size", "1,5"), ("unit", "l")]).product.size) == "1x1.5 l")
    }

    @Test("The size of a name replaces only its own rounding, and another difference is reported")
    func namesRefineRoundedSizes() throws {
        func read(_ size: String, _ name: String) throws -> ImportRecord {
            try row([("size", size)], name: name, readsNames: true)
        }
        #expect(text(try read("0.41 kg", "BUDDY GOVEDINA 405g").product.size) == "1x405 g")
        #expect(try read("0.41 kg", "BUDDY GOVEDINA 405g").sizeDifference == nil)
        #expect(text(try read("0,07 kg", "DR OETKER 6X12g").product.size) == "6x12 g")
        let other = try read("0.42 kg", "BUDDY GOVEDINA 405g")
        #expect(text(other.product.size) == "1x0.42 kg")
        #expect(other.sizeDifference?.reason.contains("405 g") == true)
        #expect(text(try read("1 kg", "Cheese 1.4 kg").product.size) == "1x1 kg")
        #expect(text(try read("0.5 kg", "Ice cream 1 l").product.size) == "1x0.5 kg")
        #expect(try read("0.5 kg", "Ice cream 1 l").sizeDifference == nil)
        #expect(text(try read("0.41 kg", "Cheese ca. 405 g").product.size) == "1x0.41 kg")
        let unread = try row([("size", "0.41 kg")], name: "BUDDY GOVEDINA 405g")
        #expect(text(unread.product.size) == "1x0.41 kg" && unread.sizeDifference == nil)
    }

    @Test("A name gives the size only if the columns do not contradict it")
    func namesFillMissingSizes() throws {
        func read(_ values: [(String, String)], _ name: String) throws -> ImportRecord {
            try row(values, name: name, readsNames: true)
        }
        #expect(text(try read([], "Jam 450 g").product.size) == "1x450 g")
        #expect(text(try read([("size", "450")], "Jam 450 g").product.size) == "1x450 g")
        #expect(text(try read([("size", "jar")], "Jam 450 g").product.size) == "1x450 g")
        #expect(try read([("size", "400")], "Jam 450 g").product.size == nil)
        #expect(try read([("size", "4 blobs 100 g")], "Jam 450 g").product.size == nil)
        #expect(try read([("pack_count", "3")], "Jam 450 g").product.size == nil)
        let olives = "Olives 400 g (240 g drained)"
        #expect(text(try read([("drained", "240")], olives).product.size) == "1x400/240 g")
        #expect(try read([("drained", "250")], olives).product.size == nil)
        #expect(try read([("drained", "240")], "Olives 400 g").product.size == nil)
    }

    @Test("The country of a store and the products of a shelf decide on customary units")
    func contextsDecideUnits() throws {
        var sizes = SizeContexts()
        let store = CatalogKey("s")!
        sizes.add(store, pricing: .us, locale: "en-US")
        sizes.add(.volume, of: "Drinks", in: store)
        sizes.add(.mass, of: "Cheese", in: store)
        func read(_ values: [(String, String)]) throws -> String? { text(try row(values, sizes: sizes).product.size) }
        #expect(try read([("size", "12 x 12 fl oz")]) == "12x12 floz_us")
        #expect(try read([("size", "64 oz"), ("shelf", "Drinks")]) == "1x64 floz_us")
        #expect(try read([("size", "64"), ("unit", "oz"), ("shelf", "Drinks")]) == "1x64 floz_us")
        #expect(try read([("size", "8 oz"), ("shelf", "Cheese")]) == "1x8 oz")
        #expect(try read([("size", "8 oz"), ("shelf", "Other")]) == nil)
        #expect(try read([("size", "8"), ("unit", "oz")]) == "1x8 oz")
        #expect(try read([("size", "2"), ("unit", "fl oz")]) == "1x2 floz_us")
        #expect(text(try row([("size", "12 fl oz")]).product.size) == nil)
    }
}
