package import Catalog

/// The values of a product that pages show, but no order, filter or facet compares, as bytes.
///
///     flags: UInt8 · number of packs: UInt32 · regular price: Int64
///     texts, each with its length in bytes: attributes, unit, amount, drained amount, barcode, address of the picture
///
/// A value that the flags exclude is missing; without attributes, these are an empty object. A length has seven bits in each byte, the lowest
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
        static let image = Flags(rawValue: 32)
        static let attributes = Flags(rawValue: 64)
        static let packs = Flags(rawValue: 128)
    }

    private static let noAttributes = "{}"

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
        package var imageURL: UnsafeRawBufferPointer?
        package var attributes: UnsafeRawBufferPointer

        package init(
            regularPriceMinor: Int64?,
            amount: UnsafeRawBufferPointer?,
            unit: UnsafeRawBufferPointer?,
            packs: Int32?,
            drained: UnsafeRawBufferPointer?,
            isApproximate: Bool,
            barcode: UnsafeRawBufferPointer?,
            imageURL: UnsafeRawBufferPointer?,
            attributes: UnsafeRawBufferPointer
        ) {
            self.regularPriceMinor = regularPriceMinor
            self.amount = amount
            self.unit = unit
            self.packs = packs
            self.drained = drained
            self.isApproximate = isApproximate
            self.barcode = barcode
            self.imageURL = imageURL
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
        let (barcode, imageURL) = (product.barcode.map(added), product.imageURL.map(added))
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
                    imageURL: imageURL.map(part),
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
        if !source.attributes.elementsEqual(noAttributes.utf8) { append(source.attributes, .attributes) }
        if source.packs != nil, let unit = source.unit, let amount = source.amount {
            flags.insert(.size)
            if source.isApproximate { flags.insert(.isApproximate) }
            append(unit)
            append(amount)
            append(source.drained, .drained)
        }
        append(source.barcode, .barcode)
        append(source.imageURL, .image)
        bytes[0] = flags.rawValue
    }

    /// The values that bytes have.
    private struct Parts {
        var packs: UInt32 = 1
        var regularPrice: Int64?
        var attributes: UnsafeRawBufferPointer?
        var unit: UnsafeRawBufferPointer?
        var amount: UnsafeRawBufferPointer?
        var drained: UnsafeRawBufferPointer?
        var isApproximate: Bool
        var barcode: UnsafeRawBufferPointer?
        var imageURL: UnsafeRawBufferPointer?

        /// Reads bytes; nil if they are damaged.
        init?(_ bytes: UnsafeRawBufferPointer) {
            var reader = MemoryReader(bytes)
            guard let number: UInt8 = reader.value() else { return nil }
            let flags = Flags(rawValue: number)
            isApproximate = flags.contains(.isApproximate)
            /// Reads a value into a property, if the flags have it; false if the bytes end.
            func read<Value: BitwiseCopyable>(_ value: inout Value, _ flag: Flags) -> Bool {
                guard flags.contains(flag) else { return true }
                guard let found: Value = reader.value() else { return false }
                value = found
                return true
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
            var price: Int64 = 0
            guard read(&packs, .packs), read(&price, .regularPrice), read(&attributes, .attributes),
                read(&unit, .size), read(&amount, .size), read(&drained, .drained), read(&barcode, .barcode),
                read(&imageURL, .image), reader.isAtEnd
            else { return nil }
            if flags.contains(.regularPrice) { regularPrice = price }
        }
    }

    /// Whether bytes are divided into values.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool { Parts(bytes) != nil }

    /// Sets the values of a product; false if the bytes are damaged.
    static func read(_ bytes: UnsafeRawBufferPointer, into product: inout Product) -> Bool {
        guard let parts = Parts(bytes) else { return false }
        func text(_ part: UnsafeRawBufferPointer) -> String { String(decoding: part, as: UTF8.self) }
        product.regularPriceMinor = parts.regularPrice
        if let attributes = parts.attributes { product.attributes = text(attributes) }
        if let unit = parts.unit, let amount = parts.amount {
            guard let unit = MeasureUnit(rawValue: text(unit)), let amount = ExactDecimal(text(amount)) else {
                return false
            }
            var drained: ExactDecimal?
            if let part = parts.drained {
                guard let found = ExactDecimal(text(part)) else { return false }
                drained = found
            }
            let size = try? Size(
                amount: amount,
                unit: unit,
                packs: Int(parts.packs),
                drained: drained,
                isApproximate: parts.isApproximate
            )
            guard let size else { return false }
            product.size = size
        }
        product.barcode = parts.barcode.map(text)
        product.imageURL = parts.imageURL.map(text)
        return true
    }
}
