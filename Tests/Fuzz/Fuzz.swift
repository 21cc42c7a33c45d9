import JSON
import AisleDiff
import Catalog
import CatalogHTTP
import CatalogImport
import CatalogJSON
import Crypto
import Dispatch
import Foundation
import Ordering
import Platform
import Shelves

/// A libFuzzer program for the parsers of untrusted input, and for shelves in memory. `AISLE_FUZZ_TARGET` selects one of the targets.
///
/// Each target also checks a property, such as that parsed input can be written, and parsed again with the same result.
enum FuzzTarget: String, CaseIterable {
    case json, csv, cursor, wire, size, jwt, shelf

    static let selected: FuzzTarget = {
        guard let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["AISLE_FUZZ_TARGET"] ?? "") else {
            fatalError("AISLE_FUZZ_TARGET must be one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return target
    }()

    func run(_ bytes: [UInt8]) {
        switch self {
        case .json: Self.json(bytes)
        case .csv: Self.csv(bytes)
        case .cursor: Self.cursor(bytes)
        case .wire: Self.wire(bytes)
        case .size: Self.size(bytes)
        case .jwt: Self.jwt(bytes)
        case .shelf: Self.shelf(bytes)
        }
    }

    private static func json(_ bytes: [UInt8]) {
        guard let value = try? JSONReader.parse(bytes) else { return }
        precondition(try! JSONReader.parse(Array(value.text.utf8)) == value)
    }

    /// The first byte says where the rest is split, and how it is read.
    private static func csv(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        func rows(_ pieces: [ArraySlice<UInt8>]) -> [String] {
            var reader = CSVReader(
                FieldSeparator.allCases[Int(first) % FieldSeparator.allCases.count],
                hasLists: first >= 0x80
            )
            var found: [String] = []
            for piece in pieces { piece.withUnsafeBytes { reader.read($0) { found.append("\($0)") } } }
            reader.end { found.append("\($0)") }
            return found
        }
        let place = rest.isEmpty ? 0 : Int(first) % rest.count
        precondition(rows([rest[...]]) == rows([rest[..<place], rest[place...]]))
        for format in [ImportOptions.Format.csv, .ndjson] {
            let options = ImportOptions(format: format, store: CatalogKey("s"), readsSizeFromName: first % 2 == 0)
            func records(_ pieces: [ArraySlice<UInt8>]) -> [String] {
                var reader = ImportReader(options, currencies: [:])
                var found: [String] = []
                func add(_ event: ImportReader.Event) {
                    // The order of a dictionary varies.
                    if case .header = event { return }
                    found.append("\(event)")
                }
                do {
                    for piece in pieces { try piece.withUnsafeBytes { try reader.read($0, add) } }
                    try reader.end(add)
                } catch { found.append("\(error)") }
                return found
            }
            precondition(records([rest[...]]) == records([rest[..<place], rest[place...]]))
            if let text = String(validating: rest, as: UTF8.self) {
                _ = try? NamedRow(line: 1, ["price": text]).price("price", in: Currency("EUR")!)
            }
        }
        // Archives.
        var decompressor = Decompressor()
        try? decompressor.read(rest) { _ in }
        try? decompressor.end { _ in }
    }

    /// Everything is signed, so that the fields are read.
    private static func cursor(_ bytes: [UInt8]) {
        let codec = CursorCodec { _ in [UInt8](repeating: 0, count: 16) }
        let text = Base64URL.encode(bytes + [UInt8](repeating: 0, count: 16))
        guard let cursor = try? codec.decode(text) else { return }
        // Compared as text: NaN does not equal itself.
        let canonical = codec.encode(cursor)
        precondition(codec.encode(try! codec.decode(canonical)) == canonical)
    }

    private static func wire(_ bytes: [UInt8]) {
        guard let diff = try? ShelfDiff<NoProduct>(wireForm: bytes, limit: 10_000) else { return }
        guard let again = diff.wireForm() else { return }
        _ = try! ShelfDiff<NoProduct>(wireForm: again)
    }

    /// The first byte chooses where the text comes from, and what is known about the store and the shelf.
    private static func size(_ bytes: [UInt8]) {
        guard let first = bytes.first.map(Int.init), let text = String(validating: bytes.dropFirst(), as: UTF8.self)
        else {
            return
        }
        let source: SizeText.Source = first % 2 == 0 ? .size : .name
        let languages = ImportLanguage.all.map(\.code)
        let context = SizeText.Context(
            pricing: UnitPricing.allCases[first / 2 % UnitPricing.allCases.count],
            language: languages[first % languages.count],
            dimension: first % 3 == 0 ? nil : Dimension.allCases[first % Dimension.allCases.count]
        )
        guard let size = SizeText.parse(text, from: source, in: context) else { return }
        precondition(Size.quantityRange.contains(size.baseQuantity))
        precondition(Size.packRange.contains(size.packs))
        for changed in [text + " zyxq", "zyxq " + text] {
            guard let other = SizeText.parse(changed, from: source, in: context) else { continue }
            precondition(other.baseQuantity == size.baseQuantity)
        }
    }

    /// Reads each value of a table, in each order, and changes one row.
    private static func use(_ table: ShelfTable) {
        for sort in Sort.allSingle {
            let request = ViewRequest(
                sort: sort,
                dimension: .mass,
                sortsSoldOutLast: true,
                currency: Currency("EUR")!
            )
            precondition(table.view(request).rows.count == table.count)
        }
        precondition(table.facets(Set(Facet.allCases), .none, in: Currency("EUR")!).total == table.count)
        let rows = (0..<table.count).map { table.values($0) }
        guard var row = rows.first, let last = rows.last else { return }
        (row.tags, row.size) = (last.tags, last.size)
        precondition(table.applying([row.sku: row]).values(0).tags == row.tags)
    }

    /// The bytes are an image without its checksum, and then changes of a shelf, a sort and a filter, which are compared with the
    /// specification.
    private static func shelf(_ bytes: [UInt8]) {
        var image = bytes
        withUnsafeBytes(of: ShelfImage.checksum(bytes)) { image.append(contentsOf: $0) }
        if let image = image.withUnsafeBytes({ ShelfImage($0) }) {
            Self.use(image.table)
            for row in 0..<image.table.count { _ = image.table.product(row) }
        }

        var rest = bytes[...]
        func next(_ limit: Int) -> Int { Int(rest.popFirst() ?? 0) % limit }
        @Sendable func key(_ text: String) -> [UInt8] { Array(text.lowercased().prefix(2).utf8) }
        let sort = Sort.allSingle[next(Sort.allSingle.count)]
        let dimension = Dimension.allCases[next(Dimension.allCases.count)]
        let (sortsSoldOutLast, priceLimit, currency) = (next(2) == 0, next(40), Currency("EUR")!)
        let filter = priceLimit < 30 ? try! Filter(query: "price_max=0.\(priceLimit)") : .none
        var listings: [SKU: Listing] = [:]
        var table = ShelfTable()
        while !rest.isEmpty {
            var changes: [SKU: TableRow?] = [:]
            for _ in 0...next(4) {
                let sku = SKU("s\(next(24))")!
                if next(4) == 0 {
                    listings[sku] = nil
                    changes[sku] = .some(nil)
                    continue
                }
                var product = Product(sku: sku, name: ["Milk", "milk", "Mi", "Zebra", "Ä"][next(5)])
                product.brand = [nil, "Arla", "arla", "Zott"][next(4)]
                product.priceMinor = [nil, 0, 7, 8, 29, 30, 999_999_999_999][next(7)]
                product.size = try! Size(
                    amount: ExactDecimal(Int128(next(4) + 1)),
                    unit: [.g, .kg, .ml, .piece][next(4)]
                )
                product.popularity = Popularity(log2: [-.infinity, 0, -0.0, 1.5][next(4)])
                product.inStock = next(3) > 0
                product.barcode = [nil, "4000000000001"][next(2)]
                product.tags = Array(["a", "b", "c"].prefix(next(4)))
                product.createdAt = Timestamp(microseconds: Int64(next(3)))
                let position = PathKey([Int64(next(256)), Int64(sku.text.dropFirst())!]).bytes
                let listing = Listing(
                    product: product,
                    position: position,
                    isSoldOut: sortsSoldOutLast && !product.inStock
                )
                listings[sku] = listing
                changes[sku] = TableRow(product, position: position, key: key)
            }
            table = table.applying(changes)
        }
        let accepted = listings.values.filter { filter.accepts($0.product, in: currency) }
        let expected = sort.sorted(accepted, dimension: dimension) { a, b in
            key(a) == key(b) ? 0 : key(a).lexicographicallyPrecedes(key(b)) ? -1 : 1
        }
        let view = table.view(
            ViewRequest(
                sort: sort,
                filter: filter,
                dimension: dimension,
                sortsSoldOutLast: sortsSoldOutLast,
                currency: currency
            )
        )
        precondition(view.rows.map { table.product(Int($0)) } == expected.map(\.product))
        precondition(table.facets([.price], filter, in: currency).total == expected.count)
    }

    private static let secret = [UInt8](repeating: 7, count: 32)
    private static let verifier = TokenVerifier(keys: TokenKeys(secrets: [secret]))

    /// Two lines: the header and the claims. They are signed, so that the claims are read.
    private static func jwt(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
        let signed = lines.map { Base64URL.encode(Array($0)) }.joined(separator: ".")
        let signature = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: secret))
        let token = "\(signed).\(Base64URL.encode(Array(signature)))"
        let isDone = DispatchSemaphore(value: 0)
        Task {
            if let caller = try? await verifier.verify(token) { precondition(!caller.user.text.isEmpty) }
            isDone.signal()
        }
        isDone.wait()
    }
}

/// libFuzzer's own main function.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.selected.run(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}

/// The main function: the linker takes the name from the target.
@_cdecl("Fuzz_main")
public func start() -> CInt {
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    return runDriver(&count, &arguments, fuzz)
}
