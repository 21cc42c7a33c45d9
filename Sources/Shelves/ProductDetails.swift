package import Catalog

/// The values of a product that pages show, but no order, filter or facet compares, as bytes.
///
///     flags: UInt8 · number of packs: UInt32 · regular price: Int64
///     texts, each with its length in bytes: attributes, unit, amount, drained amount, barcode
///
/// A value that the flags exclude is missing; attributes that they exclude are `{}`. A length has seven bits in each byte, the lowest
/// first, and the highest bit of each byte but the last.
package struct ProductDetails: Sendable, Hashable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let regularPrice = Flags(rawValue: 1)
        static let size = Flags(rawValue: 2)
        static let drained = Flags(rawValue: 4)
        static let isApproximate = Flags(rawValue: 8)
        static let barcode = Flags(rawValue: 16)
        static let attributes = Flags(rawValue: 64)
        static let packs = Flags(rawValue: 128)
    }

    private static var noAttributes: UnsafeRawBufferPointer {
        let text: StaticString = "{}"
        return UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// The values as the database has them. Texts are in memory that the caller owns.
    package struct Source {
        package var regularPriceMinor: Int64?
        /// The amount and the unit of the size, and the number of packs; all nil without a size.
        package var amount: UnsafeRawBufferPointer?
        package var unit: UnsafeRawBufferPointer?
        package var packs: Int32?
        package var drained: UnsafeRawBufferPointer?
        package var isApproximate: Bool
        package var barcode: UnsafeRawBufferPointer?
        package var attributes: UnsafeRawBufferPointer

        package init(
            regularPriceMinor: Int64? = nil,
            amount: UnsafeRawBufferPointer? = nil,
            unit: UnsafeRawBufferPointer? = nil,
            packs: Int32? = nil,
            drained: UnsafeRawBufferPointer? = nil,
            isApproximate: Bool,
            barcode: UnsafeRawBufferPointer? = nil,
            attributes: UnsafeRawBufferPointer
        ) {
            self.regularPriceMinor = regularPriceMinor
            self.amount = amount
            self.unit = unit
            self.packs = packs
            self.drained = drained
            self.isApproximate = isApproximate
            self.barcode = barcode
            self.attributes = attributes
        }
    }

    package init(_ source: Source) {
        var bytes: [UInt8] = []
        Self.write(source, to: &bytes)
        self.bytes = bytes
    }

    package init(_ product: Product) {
        // The bytes of all texts, one after another.
        var texts: [UInt8] = []
        func added(_ text: String) -> Range<Int> {
            let start = texts.count
            texts.append(contentsOf: text.utf8)
            return start..<texts.count
        }
        let (size, attributes) = (product.size, added(product.attributes))
        let amount = size.map { added($0.amount.description) }
        let unit = size.map { added($0.unit.rawValue) }
        let drained = size?.drained.map { added($0.description) }
        let barcode = product.barcode.map(added)
        self = texts.withUnsafeBytes { texts in
            func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: texts[range]) }
            return ProductDetails(
                Source(
                    regularPriceMinor: product.regularPriceMinor,
                    amount: amount.map(part),
                    unit: unit.map(part),
                    packs: size.map { Int32($0.packs) },
                    drained: drained.map(part),
                    isApproximate: size?.isApproximate ?? false,
                    barcode: barcode.map(part),
                    attributes: part(attributes)
                )
            )
        }
    }

    /// Replaces bytes by those of a product's values.
    static func write(_ source: Source, to bytes: inout [UInt8]) {
        var flags: Flags = []
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0)
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
        if let packs = source.packs, packs != 1 {
            flags.insert(.packs)
            append(UInt32(packs))
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
        append(source.barcode, .barcode)
        bytes[0] = flags.rawValue
    }

    /// Reads the values that bytes have; nil if they are damaged.
    private static func source(_ bytes: UnsafeRawBufferPointer) -> Source? {
        var reader = MemoryReader(bytes)
        guard let number: UInt8 = reader.value() else { return nil }
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
            read(&source.drained, .drained), read(&source.barcode, .barcode), reader.isAtEnd
        else { return nil }
        if let attributes { source.attributes = attributes }
        if source.unit != nil, source.packs == nil { source.packs = 1 }
        return source
    }

    /// Whether bytes are divided into values.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { source(bytes) != nil }

    /// Sets the values of a product; false if the bytes are damaged.
    static func read(_ bytes: UnsafeRawBufferPointer, into product: inout Product) -> Bool {
        guard let source = source(bytes) else { return false }
        func text(_ part: UnsafeRawBufferPointer) -> String { String(decoding: part, as: UTF8.self) }
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
        product.barcode = source.barcode.map(text)
        return true
    }
}
