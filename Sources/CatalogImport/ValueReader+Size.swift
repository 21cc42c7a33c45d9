internal import Catalog

/// The columns of a row that state its product's size.
struct SizeColumns {
    var size: String?
    var unit: String?
    var packs: String?
    var drained: String?
    /// The unit price that the row states; nil for none.
    var unitPrice: StatedUnitPrice?
}

/// The size that a row states.
struct SizeReading {
    var size: Size?
    /// The number of decimals whose binary noise was removed.
    var roundedDecimals = 0
    /// The reason why columns that contradict each other leave the size unknown.
    var contradiction: ImportRejection?
    /// The difference from the size in the name, which the column overrules.
    var difference: ImportRejection?
    /// Whether the size was computed from the unit price.
    var isComputed = false
}

extension ValueReader {
    /// Returns the size that the columns state, or that the name states.
    ///
    /// The columns combine, or contradict each other. A size that is not understood is unknown. If names are read, too,
    /// the column wins over the name, unless it is the rounded size of the name. The unit price of the row decides between
    /// them, and a size that contradicts it is unknown. Without any size, the unit price leads to an approximate one.
    func size(_ columns: SizeColumns, name: String) throws(ImportRejection) -> SizeReading {
        var reading = SizeReading()
        do throws(SizeContradiction) {
            reading.size = try combined(columns, &reading)
            let mayUseName =
                columns.size.map { !$0.contains(where: \.isASCIIDigit) || ValueReader.isNumber($0) } ?? true
            if options.profile.readsSizeFromName, reading.size != nil || mayUseName {
                try reconcile(with: name, columns, &reading)
            }
            if let unitPrice = columns.unitPrice { try reconcile(with: unitPrice, columns, name: name, &reading) }
        } catch {
            if let rejection = error.rejection { throw rejection }
            reading.size = nil
            reading.contradiction = reject(error.column, error.value, error.reason)
        }
        return reading
    }

    // MARK: - Columns

    private func combined(
        _ columns: SizeColumns,
        _ reading: inout SizeReading
    ) throws(SizeContradiction) -> Size? {
        guard let text = columns.size else { return nil }
        let packs = try packs(columns.packs)
        let isApproximate = text.utf8.first == UInt8(ascii: "~")
        let digits = isApproximate ? String(text.dropFirst()) : text
        guard let amount = Self.number(digits, unit: columns.unit.flatMap(unit)) else {
            return try sizeOfText(text, columns, packs, &reading)
        }
        guard let unitText = columns.unit, let unit = unit(unitText) else { return nil }
        let exact = amount.withoutBinaryNoise
        reading.roundedDecimals = exact == amount ? 0 : 1
        let size = try checked(text) { () throws(SizeError) in
            try Size(amount: exact, unit: unit, packs: packs ?? 1, isApproximate: isApproximate)
        }
        return try withDrained(size, columns.drained, &reading)
    }

    /// Returns the size of a text such as `6 x 330 ml`, which the other columns may complete.
    private func sizeOfText(
        _ text: String,
        _ columns: SizeColumns,
        _ packs: Int?,
        _ reading: inout SizeReading
    ) throws(SizeContradiction) -> Size? {
        guard let size = SizeText.parse(text, in: sizeContext) else { return nil }
        if let unitText = columns.unit, let unit = unit(unitText), unit.dimension != size.unit.dimension,
            unit.dimension != .piece
        {
            throw SizeContradiction(.unit, unitText, "contradicts the size “\(text)”")
        }
        var total = size.packs
        if let packs, packs != 1, packs != size.packs {
            let isSameCount = size.unit.dimension == .piece && size.amount == ExactDecimal(Int128(packs))
            guard size.packs == 1, !isSameCount else {
                throw SizeContradiction(.packCount, columns.packs, "contradicts the size “\(text)”")
            }
            total = packs
        }
        let combined = try checked(text) { () throws(SizeError) in
            try Size(
                amount: size.amount,
                unit: size.unit,
                packs: total,
                drained: size.drained,
                isApproximate: size.isApproximate
            )
        }
        return try withDrained(combined, columns.drained, &reading)
    }

    private func packs(_ text: String?) throws(SizeContradiction) -> Int? {
        guard let text else { return nil }
        guard let count = Int(text), Size.packRange.contains(count) else {
            throw SizeContradiction(reject(.packCount, text, "must be a whole number from 1 to 1000000"))
        }
        return count
    }

    /// Returns the size with the drained amount of a column: a number in the unit of the size, or a text such as `240 g`.
    private func withDrained(
        _ size: Size?,
        _ text: String?,
        _ reading: inout SizeReading
    ) throws(SizeContradiction) -> Size? {
        guard let size, let text else { return size }
        let drained: ExactDecimal
        if let number = Self.number(text, unit: size.unit) {
            drained = number.withoutBinaryNoise
            if drained != number { reading.roundedDecimals += 1 }
        } else if let stated = SizeText.parse(text, in: sizeContext), stated.unit.dimension == size.unit.dimension,
            stated.drained == nil, stated.packs == 1 || stated.packs == size.packs
        {
            guard let amount = stated.amount(in: size.unit) else {
                throw SizeContradiction(.drained, text, "has a unit that cannot be converted to that of the size")
            }
            drained = amount
        } else {
            throw SizeContradiction(.drained, text, "is not an amount such as 240 or 240 g")
        }
        if drained.isZero { return size }
        guard drained <= size.amount, size.drained.map({ $0 == drained }) ?? true else {
            throw SizeContradiction(.drained, text, "contradicts the size of \(size.amount) \(size.unit.rawValue)")
        }
        return try checked(text) { () throws(SizeError) in
            try Size(
                amount: size.amount,
                unit: size.unit,
                packs: size.packs,
                drained: drained,
                isApproximate: size.isApproximate
            )
        }
    }

    /// - Throws: the rejection of the row for a size out of range.
    private func checked(
        _ text: String,
        _ make: () throws(SizeError) -> Size?
    ) throws(SizeContradiction) -> Size? {
        do throws(SizeError) { return try make() } catch { throw SizeContradiction(reject(.size, text, error.reason)) }
    }

    // MARK: - Names

    /// Replaces the size by that of the name, if there is none, or if it is a rounding of it. Otherwise, notes a difference.
    private func reconcile(
        with name: String,
        _ columns: SizeColumns,
        _ reading: inout SizeReading
    ) throws(SizeContradiction) {
        guard let named = SizeText.parse(name, from: .name, in: sizeContext) else { return }
        guard let size = reading.size else {
            try checkNumbers(of: columns, named)
            reading.size = named
            return
        }
        guard named.unit.dimension == size.unit.dimension, named.baseQuantity != size.baseQuantity else { return }
        if let text = columns.size, size.isRounding(of: named, decimals: Self.decimals(text)) {
            reading.size = named
        } else {
            let reason =
                "differs from the \(named.packs) × \(named.amount) \(named.unit.rawValue) of the name; the column is used"
            reading.difference = reject(.size, columns.size, reason)
        }
    }

    // MARK: - Unit prices

    /// Returns the unit price that a text states; nil if it states none.
    func unitPrice(_ text: String, of prices: [Int64?]) -> StatedUnitPrice? {
        StatedUnitPrice(text, of: prices.compactMap(\.self), in: currency, sizeContext) { text in
            try? forms[.unitPrice].amount(text, in: currency)
        }
    }

    /// Replaces the size by the one that agrees with the unit price, or computes an approximate one if there is none.
    private func reconcile(
        with unitPrice: StatedUnitPrice,
        _ columns: SizeColumns,
        name: String,
        _ reading: inout SizeReading
    ) throws(SizeContradiction) {
        guard let size = reading.size else {
            guard hasSizes else { return }
            // A text that was not understood may say something else.
            guard columns.size == nil || ValueReader.isNumber(columns.size!) && columns.unit == nil else { return }
            reading.size = unitPrice.size
            reading.isComputed = reading.size != nil
            return
        }
        guard unitPrice.agrees(with: size) == false else { return }
        if options.profile.readsSizeFromName, let named = SizeText.parse(name, from: .name, in: sizeContext),
            unitPrice.agrees(with: named) == true
        {
            reading.size = named
            reading.difference = nil
            return
        }
        throw SizeContradiction(
            .size,
            columns.size ?? name,
            "does not match the unit price “\(unitPrice.text)” of the row"
        )
    }

    /// Checks that a number without a unit, and the number of packs, agree with the size of the name.
    private func checkNumbers(of columns: SizeColumns, _ named: Size) throws(SizeContradiction) {
        if let text = columns.size, let number = Self.number(text, unit: nil), number != named.amount {
            throw SizeContradiction(.size, text, "has no unit, and differs from the size of the name")
        }
        if let packs = try packs(columns.packs), packs != 1, packs != named.packs {
            throw SizeContradiction(.packCount, columns.packs, "differs from the size of the name")
        }
        if let drained = columns.drained, named.drained.map({ $0.description != drained }) ?? true {
            throw SizeContradiction(.drained, drained, "needs a size in its column")
        }
    }

    // MARK: - Numbers

    private static func isNumber(_ text: String) -> Bool { number(text, unit: nil) != nil }

    /// Parses a number with a point, or with a comma that is clearly a decimal one.
    private static func number(_ text: String, unit: MeasureUnit?) -> ExactDecimal? {
        if let number = ExactDecimal(text) { return number }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = ExactDecimal("\(parts[0]).\(parts[1])") else {
            return nil
        }
        let mayBeThousands = parts[1].count == 3 && parts[0] != "0"
        let isLarge = unit == .kg || unit == .l
        return mayBeThousands && !(isLarge && parts[0].count <= 2) ? nil : number
    }

    /// Returns the number of decimals of the only number in a text; 0 for several numbers.
    private static func decimals(_ text: String) -> Int {
        let numbers = text.split { !$0.isASCIIDigit && $0 != "." && $0 != "," }.filter {
            $0.contains(where: \.isASCIIDigit)
        }
        guard numbers.count == 1, let mark = numbers[0].firstIndex(where: { !$0.isASCIIDigit }) else { return 0 }
        return numbers[0].distance(from: mark, to: numbers[0].endIndex) - 1
    }

    private func unit(_ text: String) -> MeasureUnit? { SizeText.unit(text, in: sizeContext) }
}

/// Columns that contradict each other, or a value that rejects the row.
private struct SizeContradiction: Error {
    var column = ImportColumn.size
    var value: String?
    var reason = ""
    var rejection: ImportRejection?

    init(_ column: ImportColumn, _ value: String?, _ reason: String) {
        self.column = column
        self.value = value
        self.reason = reason
    }

    init(_ rejection: ImportRejection) {
        reason = rejection.reason
        self.rejection = rejection
    }
}

extension Size {
    /// Returns the amount of a pack in another unit; nil if the conversion has too many decimals.
    fileprivate func amount(in other: MeasureUnit) -> ExactDecimal? {
        if unit == other { return amount }
        return amount.multiplied(by: unit.factor).flatMap { $0.divided(by: other.factor, decimals: 9) }
    }

    /// Whether this size is another one, rounded half up to some decimals of this size's unit.
    fileprivate func isRounding(of other: Size, decimals: Int) -> Bool {
        guard decimals > 0, packs == 1, drained == nil, !other.isApproximate, other.drained == nil else { return false }
        // Half a unit of the last decimal, in the base unit: 5 g for 0.41 kg.
        guard let half = ExactDecimal(5, scale: decimals + 1).multiplied(by: unit.factor),
            let upper = baseQuantity.adding(half), let opposite = half.multiplied(by: ExactDecimal(-1)),
            let lower = baseQuantity.adding(opposite)
        else { return false }
        return other.baseQuantity >= lower && other.baseQuantity < upper
    }
}

extension ExactDecimal {
    /// Returns the exact quotient; nil if it has more decimals than given, or if the divisor is 0.
    fileprivate func divided(by other: ExactDecimal, decimals: Int) -> ExactDecimal? {
        guard !other.isZero, let dividend = significand(atScale: max(scale, other.scale + decimals)) else { return nil }
        let scale = max(scale, other.scale + decimals) - other.scale
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: other.significand)
        return remainder == 0 ? ExactDecimal(quotient, scale: scale) : nil
    }
}
