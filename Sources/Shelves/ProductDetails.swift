package import Catalog

/// The values of a product that pages show, but no order, filter or facet compares, as bytes in an image.
///
///     flags: UInt8 · number of packs: UInt32 · regular price: Int64
///     texts, each with its length in bytes: UInt32: attributes, unit, amount, drained amount, barcode, address of the picture
///
/// A value that the flags exclude is missing.
package struct ProductDetails {
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let regularPrice = Flags(rawValue: 1)
        static let size = Flags(rawValue: 2)
        static let drained = Flags(rawValue: 4)
        static let isApproximate = Flags(rawValue: 8)
        static let barcode = Flags(rawValue: 16)
        static let image = Flags(rawValue: 32)
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

    /// Replaces bytes by those of a product's values.
    static func write(_ source: Source, to bytes: inout [UInt8]) {
        var flags: Flags = []
        bytes.removeAll(keepingCapacity: true)
        bytes.append(0)
        func append<Value: BitwiseCopyable>(_ value: Value) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        func append(_ text: UnsafeRawBufferPointer) {
            append(UInt32(text.count))
            bytes.append(contentsOf: text)
        }
        func append(_ text: UnsafeRawBufferPointer?, _ flag: Flags) {
            guard let text else { return }
            flags.insert(flag)
            append(text)
        }
        if let packs = source.packs { append(UInt32(packs)) }
        if let price = source.regularPriceMinor {
            flags.insert(.regularPrice)
            append(price)
        }
        append(source.attributes)
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

    /// Sets the values of a product; false if they are none.
    package static func set(_ source: Source, in product: inout Product) -> Bool {
        var bytes: [UInt8] = []
        write(source, to: &bytes)
        return bytes.withUnsafeBytes { read($0, into: &product) }
    }

    /// Sets the values of a product; false if the bytes are damaged.
    static func read(_ bytes: UnsafeRawBufferPointer, into product: inout Product) -> Bool {
        var reader = MemoryReader(bytes)
        func text() -> String? {
            guard let count: UInt32 = reader.value(), let part = reader.part(count) else { return nil }
            return String(decoding: part, as: UTF8.self)
        }
        guard let number: UInt8 = reader.value() else { return false }
        let flags = Flags(rawValue: number)
        var packs: UInt32 = 1
        if flags.contains(.size) {
            guard let found: UInt32 = reader.value() else { return false }
            packs = found
        }
        if flags.contains(.regularPrice) {
            guard let price: Int64 = reader.value() else { return false }
            product.regularPriceMinor = price
        }
        guard let attributes = text() else { return false }
        product.attributes = attributes
        if flags.contains(.size) {
            guard let unit = text().flatMap({ MeasureUnit(rawValue: $0) }),
                let amount = text().flatMap({ ExactDecimal($0) })
            else { return false }
            var drained: ExactDecimal?
            if flags.contains(.drained) {
                guard let found = text().flatMap({ ExactDecimal($0) }) else { return false }
                drained = found
            }
            let isApproximate = flags.contains(.isApproximate)
            let size = try? Size(
                amount: amount,
                unit: unit,
                packs: Int(packs),
                drained: drained,
                isApproximate: isApproximate
            )
            guard let size else { return false }
            product.size = size
        }
        if flags.contains(.barcode) {
            guard let barcode = text() else { return false }
            product.barcode = barcode
        }
        if flags.contains(.image) {
            guard let address = text() else { return false }
            product.imageURL = address
        }
        return reader.isAtEnd
    }
}
