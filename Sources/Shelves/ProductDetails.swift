package import Catalog

/// The values of a product that have no column of their own in `ShelfTable`, as bytes. Columns of attributes, groups and search indexes are
/// read from them when a request needs these.
///
///     flags: UInt16 · number of packs: UInt32 · regular price: Int64
///     texts, each with its length in bytes: attributes, unit, amount, drained amount, those of `texts`
///
/// A value that the flags exclude is missing; attributes that they exclude are `{}`. A length has seven bits in each byte, the lowest
/// first, and the highest bit of each byte but the last.
package struct ProductDetails: Sendable, Hashable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The optional texts that are details, in the order of their bytes. The others have columns in `ShelfTable`.
    package static let texts: [ProductText] = {
        let texts = ProductText.allCases.filter { $0 != .brand && $0 != .imageURL }
        precondition(texts.count <= Flags.textLimit, "details have flags for \(Flags.textLimit) texts")
        return texts
    }()

    private struct Flags: OptionSet {
        let rawValue: UInt16

        static let regularPrice = Flags(rawValue: 1)
        static let size = Flags(rawValue: 2)
        static let drained = Flags(rawValue: 4)
        static let isApproximate = Flags(rawValue: 8)
        static let attributes = Flags(rawValue: 16)
        static let packs = Flags(rawValue: 32)
        /// The number of flags that are left for `texts`.
        static let textLimit = 10

        /// Returns the flag of a text.
        ///
        /// - Parameter number: its index in `texts`.
        static func text(_ number: Int) -> Flags { Flags(rawValue: 64 << number) }
    }

    private static var noAttributes: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// The values as the database has them, without those of `texts`. Texts are in memory that the caller owns.
    package struct Source {
        package var regularPriceMinor: Int64?
        /// The amount and the unit of the size, and the number of packs; all nil without a size.
        package var amount: UnsafeRawBufferPointer?
        package var unit: UnsafeRawBufferPointer?
        package var packs: Int32?
        package var drained: UnsafeRawBufferPointer?
        package var isApproximate: Bool
        package var attributes: UnsafeRawBufferPointer

        package init(
            regularPriceMinor: Int64? = nil,
            amount: UnsafeRawBufferPointer? = nil,
            unit: UnsafeRawBufferPointer? = nil,
            packs: Int32? = nil,
            drained: UnsafeRawBufferPointer? = nil,
            isApproximate: Bool,
            attributes: UnsafeRawBufferPointer
        ) {
            self.regularPriceMinor = regularPriceMinor
            self.amount = amount
            self.unit = unit
            self.packs = packs
            self.drained = drained
            self.isApproximate = isApproximate
            self.attributes = attributes
        }
    }

    /// - Parameter text: returns the bytes of a text by its index in `texts`; nil if it is missing.
    package init(_ source: Source, text: (Int) -> UnsafeRawBufferPointer?) {
        var bytes: [UInt8] = []
        Self.write(source, text: text, to: &bytes)
        self.bytes = bytes
    }

    package init(_ product: Product) {
        // The bytes of all texts, one after another.
        var arena: [UInt8] = []
        func added(_ text: String) -> Range<Int> {
            let start = arena.count
            arena.append(contentsOf: text.utf8)
            return start..<arena.count
        }
        let (size, attributes) = (product.size, added(product.attributes))
        let amount = size.map { added($0.amount.description) }
        let unit = size.map { added($0.unit.rawValue) }
        let drained = size?.drained.map { added($0.description) }
        let texts = Self.texts.map { text in product[text].map(added) }
        self = arena.withUnsafeBytes { arena in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: arena[range]) }
            let source = Source(
                regularPriceMinor: product.regularPriceMinor,
                amount: amount.map(part),
                unit: unit.map(part),
                packs: size.map { Int32($0.packs) },
                drained: drained.map(part),
                isApproximate: size?.isApproximate ?? false,
                attributes: part(attributes)
            )
            return ProductDetails(source) { texts[$0].map(part) }
        }
    }

    /// Replaces bytes by those of a product's values.
    ///
    /// - Parameter text: returns the bytes of a text by its index in `texts`; nil if it is missing.
    static func write(_ source: Source, text: (Int) -> UnsafeRawBufferPointer?, to bytes: inout [UInt8]) {
        var flags: Flags = []
        bytes.removeAll(keepingCapacity: true)
        func append<Value: BitwiseCopyable>(_ value: Value) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        func append(_ text: UnsafeRawBufferPointer) {
            var rest = text.count
            while rest > 127 {
                bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
            bytes.append(contentsOf: text)
        }
        func append(_ text: UnsafeRawBufferPointer?, _ flag: Flags) {
            guard let text else { return }
            flags.insert(flag)
            append(text)
        }
        append(flags.rawValue)
        if let packs = source.packs, packs != 1 {
            flags.insert(.packs)
            append(packs)
        }
        if let price = source.regularPriceMinor {
            flags.insert(.regularPrice)
            append(price)
        }
        if !source.attributes.elementsEqual(noAttributes) { append(source.attributes, .attributes) }
        if source.packs != nil, let unit = source.unit, let amount = source.amount {
            flags.insert(.size)
            if source.isApproximate { flags.insert(.isApproximate) }
            append(unit)
            append(amount)
            append(source.drained, .drained)
        }
        for number in texts.indices { append(text(number), .text(number)) }
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: flags.rawValue, as: UInt16.self) }
    }

    /// Reads the values that bytes have; nil if they are damaged.
    ///
    /// - Parameter found: receives each text that is not missing, by its index in `texts`.
    private static func source(
        _ bytes: UnsafeRawBufferPointer,
        _ found: (Int, UnsafeRawBufferPointer) -> Void
    ) -> Source? {
        var reader = MemoryReader(bytes)
        guard let number: UInt16 = reader.value() else { return nil }
        let flags = Flags(rawValue: number)
        /// Reads a value; false if the bytes end.
        func read<Value: BitwiseCopyable>(_ value: inout Value?, _ flag: Flags) -> Bool {
            guard flags.contains(flag) else { return true }
            value = reader.value()
            return value != nil
        }
        func read(_ text: inout UnsafeRawBufferPointer?, _ flag: Flags) -> Bool {
            guard flags.contains(flag) else { return true }
            var (count, shift): (UInt32, UInt32) = (0, 0)
            while shift < 32 {
                guard let byte: UInt8 = reader.value() else { return false }
                count |= UInt32(byte & 127) << shift
                shift += 7
                if byte < 128 {
                    text = reader.part(count)
                    return text != nil
                }
            }
            return false
        }
        var source = Source(isApproximate: flags.contains(.isApproximate), attributes: noAttributes)
        var attributes: UnsafeRawBufferPointer?
        guard read(&source.packs, .packs), read(&source.regularPriceMinor, .regularPrice),
            read(&attributes, .attributes), read(&source.unit, .size), read(&source.amount, .size),
            read(&source.drained, .drained)
        else { return nil }
        for number in texts.indices {
            var text: UnsafeRawBufferPointer?
            guard read(&text, .text(number)) else { return nil }
            if let text { found(number, text) }
        }
        guard reader.isAtEnd else { return nil }
        if let attributes { source.attributes = attributes }
        if source.unit != nil, source.packs == nil { source.packs = 1 }
        return source
    }

    /// Returns a text that bytes have; nil if it is missing or the bytes are damaged.
    static func text(_ text: ProductText, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var found: UnsafeRawBufferPointer?
        let isValid = source(bytes) { number, part in if texts[number] == text { found = part } } != nil
        return isValid ? found : nil
    }

    /// Returns the attributes as JSON; nil if there are none or the bytes are damaged.
    static func attributes(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count >= 2 else { return nil }
        let flags = Flags(rawValue: bytes.loadUnaligned(as: UInt16.self))
        guard flags.contains(.attributes) else { return nil }
        var offset = 2 + (flags.contains(.packs) ? 4 : 0) + (flags.contains(.regularPrice) ? 8 : 0)
        var (count, shift) = (0, 0)
        while offset < bytes.count, shift < 32 {
            let byte = bytes[offset]
            offset += 1
            count |= Int(byte & 127) << shift
            shift += 7
            guard byte < 128 else { continue }
            guard count <= bytes.count - offset else { return nil }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
        }
        return nil
    }

    /// Returns the amount in each pack, its unit and the number of packs; nil without a size or if the bytes are damaged.
    static func packs(in bytes: UnsafeRawBufferPointer) -> (amount: ExactDecimal, unit: MeasureUnit, count: Int)? {
        guard let source = source(bytes, { _, _ in }), let unit = source.unit, let amount = source.amount,
            let packs = source.packs, let unit = MeasureUnit(rawValue: String(decoding: unit, as: UTF8.self)),
            let amount = ExactDecimal(String(decoding: amount, as: UTF8.self))
        else { return nil }
        return (amount, unit, Int(packs))
    }

    /// Whether bytes are divided into values.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { source(bytes, { _, _ in }) != nil }

    /// Sets the values of a product; false if the bytes are damaged.
    static func read(_ bytes: UnsafeRawBufferPointer, into product: inout Product) -> Bool {
        func text(_ part: UnsafeRawBufferPointer) -> String { String(decoding: part, as: UTF8.self) }
        guard let source = source(bytes, { product[texts[$0]] = text($1) }) else { return false }
        product.regularPriceMinor = source.regularPriceMinor
        product.attributes = text(source.attributes)
        if let unit = source.unit, let amount = source.amount, let packs = source.packs {
            guard let unit = MeasureUnit(rawValue: text(unit)), let amount = ExactDecimal(text(amount)) else {
                return false
            }
            var drained: ExactDecimal?
            if let part = source.drained {
                guard let found = ExactDecimal(text(part)) else { return false }
                drained = found
            }
            let size = try? Size(
                amount: amount,
                unit: unit,
                packs: Int(packs),
                drained: drained,
                isApproximate: source.isApproximate
            )
            guard let size else { return false }
            product.size = size
        }
        return true
    }
}
