package import Catalog

/// A codec for cursors as opaque text: canonical base64url of the fields and a MAC over them.
package struct CursorCodec: Sendable {
    /// A keyed hash of at least `macLength` bytes.
    package typealias MAC = @Sendable ([UInt8]) -> [UInt8]

    private let mac: MAC
    private static let version: UInt8 = 2
    /// The version of cursors by attributes, which earlier programs reject.
    private static let attributeVersion: UInt8 = 3
    /// The version of cursors with further members of the context.
    private static let contextVersion: UInt8 = 4

    /// A member of the context that only some cursors have. Its value follows its number.
    private enum Member: UInt8 {
        case search = 1
        /// Collapsed groups, without a value.
        case collapse = 2
    }

    private static let macLength = 16
    /// The maximum length of a cursor text. A sort has at most four attributes, and each may be a text of 500 bytes.
    private static let maximumLength = 12_288

    package init(mac: @escaping MAC) { self.mac = mac }

    package func encode(_ cursor: Cursor) -> String {
        var writer = CursorWriter()
        let hasMembers = cursor.search != nil || cursor.collapsesGroups
        writer.byte(hasMembers ? Self.contextVersion : cursor.attributes.isEmpty ? Self.version : Self.attributeVersion)
        writer.text(cursor.scope)
        writer.text(cursor.sort)
        writer.byte(UInt8(SortSource.allCases.firstIndex(of: cursor.source)!))
        writer.text(cursor.filter)
        writer.byte(UInt8(FilterSource.allCases.firstIndex(of: cursor.filterSource)!))
        writer.byte(UInt8(cursor.dimension.ordinal))
        writer.byte(cursor.isSoldOut ? 1 : 0)
        writer.word(UInt64(bitPattern: cursor.keyGeneration))
        writer.byte(UInt8(cursor.values.count))
        for value in cursor.values { writer.value(value) }
        writer.text(cursor.name)
        writer.text(cursor.id)
        if hasMembers || !cursor.attributes.isEmpty { writer.text(cursor.attributes) }
        if let search = cursor.search {
            writer.byte(Member.search.rawValue)
            writer.byte(search.searchClass.rawValue)
            writer.text(search.text.text)
        }
        if cursor.collapsesGroups { writer.byte(Member.collapse.rawValue) }
        return Base64URL.encode(writer.bytes + mac(writer.bytes).prefix(Self.macLength))
    }

    /// - Throws: `CatalogError.invalidCursor` for anything that `encode` did not create with the same key.
    package func decode(_ text: String) throws(CatalogError) -> Cursor {
        guard text.utf8.count <= Self.maximumLength, let sealed = Base64URL.decode(text), sealed.count > Self.macLength
        else { throw .invalidCursor }
        let bytes = Array(sealed.dropLast(Self.macLength))
        let expected = mac(bytes).prefix(Self.macLength)
        let difference = zip(sealed.suffix(Self.macLength), expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        guard difference == 0, let cursor = Self.read(bytes) else { throw .invalidCursor }
        return cursor
    }

    private static func read(_ bytes: [UInt8]) -> Cursor? {
        var reader = CursorReader(rest: bytes[...])
        guard let version = reader.byte(), [Self.version, attributeVersion, contextVersion].contains(version),
            let scope = reader.text(), let sort = reader.text(),
            let source = reader.byte(), source < SortSource.allCases.count,
            let filter = reader.text(), let filterSource = reader.byte(), filterSource < FilterSource.allCases.count,
            let dimension = reader.byte(), dimension < Dimension.allCases.count,
            let soldOut = reader.byte(), let generation = reader.word(), let count = reader.byte()
        else { return nil }
        var values: [SortValue] = []
        for _ in 0..<count {
            guard let value = reader.value() else { return nil }
            values.append(value)
        }
        guard let name = reader.text(), let id = reader.text(),
            let attributes = version == Self.version ? "" : reader.text()
        else { return nil }
        var search: Cursor.Search?
        var collapsesGroups = false
        while version == contextVersion, let number = reader.byte() {
            switch Member(rawValue: number) {
            case .search:
                guard search == nil, let found = reader.search() else { return nil }
                search = found
            case .collapse:
                guard !collapsesGroups else { return nil }
                collapsesGroups = true
            case nil: return nil
            }
        }
        guard reader.rest.isEmpty, (version == contextVersion) == (search != nil || collapsesGroups) else {
            return nil
        }
        return Cursor(
            scope: scope,
            sort: sort,
            source: SortSource.allCases[Int(source)],
            filter: filter,
            filterSource: FilterSource.allCases[Int(filterSource)],
            dimension: Dimension.allCases[Int(dimension)],
            isSoldOut: soldOut == 1,
            keyGeneration: Int64(bitPattern: generation),
            attributes: attributes,
            search: search,
            collapsesGroups: collapsesGroups,
            values: values,
            name: name,
            id: id
        )
    }
}

private struct CursorWriter {
    var bytes: [UInt8] = []

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    mutating func word(_ value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    /// Writes at most 65,535 bytes. Longer text, which no request can store, is truncated: rows may repeat, none is lost.
    mutating func block(_ block: some Collection<UInt8>) {
        let block = block.prefix(Int(UInt16.max))
        bytes.append(UInt8(block.count >> 8))
        bytes.append(UInt8(block.count & 255))
        bytes.append(contentsOf: block)
    }

    mutating func text(_ text: String) { block(text.utf8) }

    mutating func value(_ value: SortValue) {
        switch value {
        case .missing: byte(0)
        case .integer(let integer):
            byte(1)
            word(UInt64(bitPattern: integer))
        case .real(let real):
            byte(2)
            word(real.bitPattern)
        case .unitPrice(let dimension, let digits):
            byte(3)
            byte(UInt8(dimension.ordinal))
            text(digits)
        case .text(let string):
            byte(4)
            text(string)
        case .bytes(let bytes):
            byte(5)
            block(bytes)
        case .fraction(let fraction):
            byte(6)
            for part in [fraction.parts.numerator, fraction.parts.denominator] {
                word(UInt64(truncatingIfNeeded: part >> 64))
                word(UInt64(truncatingIfNeeded: part))
            }
        }
    }
}

private struct CursorReader {
    var rest: ArraySlice<UInt8>

    mutating func byte() -> UInt8? { rest.popFirst() }

    private mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func word() -> UInt64? { bytes(8)?.reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func block() -> ArraySlice<UInt8>? {
        guard let high = byte(), let low = byte() else { return nil }
        return bytes(Int(high) << 8 | Int(low))
    }

    mutating func text() -> String? { block().map { String(decoding: $0, as: UTF8.self) } }

    mutating func value() -> SortValue? {
        switch byte() {
        case 0: .missing
        case 1: word().map { .integer(Int64(bitPattern: $0)) }
        case 2: word().map { .real(Double(bitPattern: $0)) }
        case 3: dimensionAndDigits()
        case 4: text().map { .text($0) }
        case 5: block().map { .bytes(Array($0)) }
        case 6: fraction()
        default: nil
        }
    }

    mutating func search() -> Cursor.Search? {
        guard let searchClass = byte().flatMap(SearchClass.init(rawValue:)), let written = text(),
            let text = try? SearchText(written)
        else { return nil }
        return Cursor.Search(text, searchClass)
    }

    private mutating func fraction() -> SortValue? {
        guard let numerator = number(), let denominator = number() else { return nil }
        return AttributeFraction(numerator, over: denominator).map { .fraction($0) }
    }

    /// Reads a number of 128 bits.
    private mutating func number() -> Int128? {
        guard let high = word(), let low = word() else { return nil }
        return Int128(Int64(bitPattern: high)) << 64 | Int128(low)
    }

    private mutating func dimensionAndDigits() -> SortValue? {
        guard let ordinal = byte(), ordinal < Dimension.allCases.count, let digits = text() else { return nil }
        return .unitPrice(Dimension.allCases[Int(ordinal)], digits: digits)
    }
}
