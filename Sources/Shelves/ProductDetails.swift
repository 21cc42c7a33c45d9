internal import Catalog

/// The values of a product that pages show, but no order, filter or facet compares, as bytes in an image.
///
///     flags: UInt8 · number of packs: UInt32 · regular price: Int64
///     texts, each with its length in bytes: UInt32: attributes, unit, amount, drained amount, barcode, address of the picture
///
/// A value that the flags exclude is missing.
struct ProductDetails {
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let regularPrice = Flags(rawValue: 1)
        static let size = Flags(rawValue: 2)
        static let drained = Flags(rawValue: 4)
        static let isApproximate = Flags(rawValue: 8)
        static let barcode = Flags(rawValue: 16)
        static let image = Flags(rawValue: 32)
    }

    static func bytes(of product: Product) -> [UInt8] {
        var flags: Flags = []
        var bytes: [UInt8] = [0]
        func append<Value: BitwiseCopyable>(_ value: Value) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        func append(_ text: String) {
            append(UInt32(text.utf8.count))
            bytes.append(contentsOf: text.utf8)
        }
        func append(_ text: String?, _ flag: Flags) {
            guard let text else { return }
            flags.insert(flag)
            append(text)
        }
        if let size = product.size { append(UInt32(size.packs)) }
        if let price = product.regularPriceMinor {
            flags.insert(.regularPrice)
            append(price)
        }
        append(product.attributes)
        if let size = product.size {
            flags.insert(.size)
            if size.isApproximate { flags.insert(.isApproximate) }
            append(size.unit.rawValue)
            append(size.amount.description)
            append(size.drained?.description, .drained)
        }
        append(product.barcode, .barcode)
        append(product.imageURL, .image)
        bytes[0] = flags.rawValue
        return bytes
    }

    /// Sets the values of a product; false if the bytes are none of `bytes(of:)`.
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
