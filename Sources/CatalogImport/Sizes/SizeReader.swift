internal import Catalog

/// Reads the terms of a text into statements, from left to right.
struct SizeReader {
    private let terms: [SizeTerm]
    private let source: SizeText.Source
    private let context: SizeText.Context
    private var position = 0
    private var found: [SizeStatement] = []
    /// The kind that a word gave to the next measure.
    private var pendingKind: SizeMeasure.Kind?
    private var isPendingApproximate = false

    init(_ terms: [SizeTerm], _ source: SizeText.Source, _ context: SizeText.Context) {
        self.terms = terms
        self.source = source
        self.context = context
    }

    mutating func statements() -> [SizeStatement] {
        while let term = term() {
            switch term {
            case .number(let number): readNumber(number, counting: nil)
            case .mark(let mark): readMark(mark)
            case .word(let word): readWord(word)
            }
        }
        return found
    }

    // MARK: - Terms

    private func term(_ offset: Int = 0) -> SizeTerm? {
        terms.indices.contains(position + offset) ? terms[position + offset] : nil
    }

    private func number(_ offset: Int = 0) -> SizeNumber? {
        if case .number(let number)? = term(offset) { number } else { nil }
    }

    private func word(_ offset: Int = 0) -> SizeWord? {
        if case .word(let word)? = term(offset) { word } else { nil }
    }

    private func has(_ role: SizeWord.Roles, _ offset: Int = 0) -> Bool { word(offset)?.roles.contains(role) ?? false }

    private func isMark(_ mark: Unicode.Scalar, _ offset: Int = 0) -> Bool { term(offset) == .mark(mark) }

    /// Returns the unit of a measure at a term; nil for units that count.
    private func measureUnit(_ offset: Int = 0) -> SizeMeasure.Unit? {
        switch word(offset)?.content {
        case .unit(let unit) where ![.piece, .dose].contains(unit.dimension): .fixed(unit)
        case .customary(let unit): .customary(unit)
        default: nil
        }
    }

    /// Returns what a word counts, and how many of it are meant by one.
    private func noun(_ offset: Int = 0) -> (SizeNoun, factor: Int)? {
        switch word(offset)?.content {
        case .bundle: (.bundle, 1)
        case .container: (.container, 1)
        case .item: (.item, 1)
        case .unit(.pair): (.piece, 2)
        case .unit(.dozen): (.piece, 12)
        case .unit(.hundred): (.piece, 100)
        case .unit(.piece): (.piece, 1)
        case .unit(.dose): (.dose, 1)
        default: nil
        }
    }

    // MARK: - Marks and words

    private mutating func readMark(_ mark: Unicode.Scalar) {
        position += 1
        if mark == "/", let unit = tradedUnit(), number(-2) == nil {
            position += 1
            found.append(.bareUnit(unit, isPer: true))
        } else {
            found.append(.mark(mark))
        }
    }

    private func fixedUnit(_ offset: Int = 0) -> MeasureUnit? {
        if case .unit(let unit)? = word(offset)?.content { unit } else { nil }
    }

    /// Returns the unit at a term if shops sell by it.
    private func tradedUnit(_ offset: Int = 0) -> MeasureUnit? {
        let traded: [MeasureUnit] = [.kg, .hg, .lb, .l, .m, .m2, .piece, .pair, .dozen]
        return fixedUnit(offset).flatMap { traded.contains($0) ? $0 : nil }
    }

    private mutating func readWord(_ word: SizeWord) {
        if word.roles.contains(.label), number(1) != nil, measureUnit() == nil || source == .name || terms.count > 2 {
            return readLabel()
        }
        if !word.roles.isDisjoint(with: [.net, .drained, .approximate]) { return readKind(word) }
        if word.roles.contains(.per), let unit = tradedUnit(1) {
            position += 2
            return found.append(.bareUnit(unit, isPer: true))
        }
        if word.roles.contains(.half), let unit = measureUnit(1) { return readHalf(unit) }
        if word.roles.contains(.range), number(1) != nil {
            position += 1
            return found.append(.range)
        }
        if word.roles.contains(.times), let number = number(1) {
            position += 1
            return readLeadingTimes(number)
        }
        switch word.content {
        case .bundle, .container: readNoun()
        case .unit(let unit): readBareUnit(unit)
        case nil where word.roles.contains(.half) && source == .size, .customary where source == .size:
            position += 1
            found.append(.unclear)
        default:
            position += 1
            found.append(.other)
        }
    }

    /// Skips a word that names a kind, and its number or numbers: `size 1x4`.
    private mutating func readLabel() {
        position += 2
        while has(.times) || isMark("/") || isMark("-"), number(1) != nil, measureUnit(2) == nil { position += 2 }
        // `size 4 x 400 g` may be four packs.
        let isUnclear = has(.times) || isMark("/")
        found.append(isUnclear ? .unclear : .other)
    }

    /// Reads a word for net, drained or approximate: it concerns a measure that follows directly, or the last one.
    private mutating func readKind(_ word: SizeWord) {
        position += 1
        let kind: SizeMeasure.Kind? =
            word.roles.contains(.drained) ? .drained : word.roles.contains(.net) ? .net : nil
        let isApproximate = word.roles.contains(.approximate)
        while isMark(":") || isMark("=") { position += 1 }
        let isFollowed =
            number() != nil || self.word().map { !$0.roles.isDisjoint(with: [.net, .drained, .approximate]) } ?? false
        if isFollowed || found.allSatisfy({ !$0.isMeasure }) {
            if let kind { pendingKind = kind == .drained || pendingKind == .drained ? .drained : kind }
            if isApproximate { isPendingApproximate = true }
            return
        }
        guard case .measure(var measure)? = found.last, measure.kind == .plain || kind == nil else {
            if kind == .drained || isApproximate { found.append(.unclear) }
            return
        }
        measure.kind = kind ?? measure.kind
        measure.isApproximate = measure.isApproximate || isApproximate
        found[found.count - 1] = .measure(measure)
    }

    private mutating func readHalf(_ unit: SizeMeasure.Unit) {
        position += 2
        appendMeasure(ExactDecimal(5, scale: 1), unit, [])
    }

    /// Reads `x6` or `x 100 pcs` without a number before it.
    private mutating func readLeadingTimes(_ number: SizeNumber) {
        let wasLast: Bool = if case .measure? = found.last { true } else { false }
        guard number.count != nil, !wasLast, measureUnit(1) == nil else {
            position += 1
            return found.append(.unclear)
        }
        readNumber(number, counting: .piece)
    }

    /// Skips a container or a pack before a measure or a count: `bottle 75 cl`, `pack of 6`.
    private mutating func readNoun() {
        position += 1
        if has(.connector), let number = number(1) {
            position += 1
            readNumber(number, counting: .bundle)
        } else {
            found.append(.container)
        }
    }

    private mutating func readBareUnit(_ unit: MeasureUnit) {
        position += 1
        if has(.per), tradedUnit(-1) != nil, fixedUnit(1) == nil {
            position += 1
            return found.append(.bareUnit(unit, isPer: true))
        }
        // `gr 500`, as a whole.
        if source == .size, position == 1, terms.count == 2, let number = number(), measureUnit(-1) != nil {
            position += 1
            guard let amount = amount(number, .fixed(unit)) else { return found.append(.unclear) }
            return appendMeasure(amount, .fixed(unit), [])
        }
        found.append(.bareUnit(unit, isPer: false))
    }

    // MARK: - Numbers

    private struct Factor {
        var count: Int
        var noun: SizeNoun?
        /// Whether the number multiplies what follows for certain.
        var isLinked: Bool
    }

    /// Reads a measure or a count that begins with a number.
    ///
    /// - Parameter implied: what the number counts if no noun follows.
    private mutating func readNumber(_ first: SizeNumber, counting implied: SizeNoun?) {
        var factors: [Factor] = []
        var brackets = 0
        var implied = implied
        while let number = number(), factors.count < 5 {
            if let fraction = readFraction(number, factors) {
                if let fraction { found.append(fraction) }
                return
            }
            if isMark("-", 1), self.number(2) != nil { return readRange() }
            if let unit = measureUnit(1) {
                position += 2
                return readMeasure(number, unit, factors, brackets)
            }
            position += 1
            if has(.trait) {
                position += 1
                return found.append(factors.isEmpty && implied == nil ? .other : .unclear)
            }
            guard let count = number.count else { return found.append(isLabel(number, factors) ? .other : .unclear) }
            guard var factor = readFactor(count, implied) else {
                return found.append(isLabel(number, factors) ? .other : .unclear)
            }
            implied = nil
            if factor.isLinked, isMark("("), self.number(1) != nil {
                position += 1
                brackets += 1
            }
            guard self.number() != nil, factor.isLinked || [.bundle, .container].contains(factor.noun) else {
                factor.isLinked = true
                return readCount(factors + [factor], brackets)
            }
            factors.append(factor)
        }
        found.append(.unclear)
    }

    /// Whether the number before the position belongs to a name, as in `B12`; not so `pack4` and `x4`.
    private func isLabel(_ number: SizeNumber, _ factors: [Factor]) -> Bool {
        number.isJoined && factors.isEmpty && (word(-2)?.isUnknown ?? false)
    }

    /// Reads what a number counts, and the link to what follows; nil if it has neither.
    private mutating func readFactor(_ count: Int, _ implied: SizeNoun?) -> Factor? {
        var factor = Factor(count: count, noun: implied, isLinked: false)
        while let (noun, multiple) = noun() {
            // The last noun is the one that is counted, but pieces in packs are packs.
            if factor.noun == nil || factor.noun == implied || noun != .piece { factor.noun = noun }
            factor.count *= multiple
            position += 1
        }
        if has(.times), number(1) != nil || isMark("(", 1) || noun(1) != nil {
            position += 1
            while noun() != nil, number(1) != nil || has(.connector, 1) { position += 1 }
            if has(.connector), number(1) != nil { position += 1 }
            factor.isLinked = true
            return number() != nil || isMark("(") ? factor : nil
        }
        guard factor.noun != nil else { return nil }
        if implied != nil, factor.noun == implied, word()?.isUnknown ?? false { return nil }
        if has(.connector), number(1) != nil {
            position += 1
            factor.isLinked = true
        } else if isMark("/"), number(1) != nil, context.pricing == .us {
            position += 1
            factor.isLinked = true
        }
        return factor
    }

    /// Reads `1/2 l`, `10/1`, and alternative numbers; nil without a fraction.
    private mutating func readFraction(_ top: SizeNumber, _ factors: [Factor]) -> SizeStatement?? {
        guard isMark("/", 1), let bottom = number(2) else { return nil }
        position += 3
        guard let count = top.count, let parts = bottom.count, factors.isEmpty else { return .some(.unclear) }
        if parts == 1, count > 1, measureUnit() == nil {
            if noun() != nil { position += 1 }
            return .some(.count(SizeCount(amount: count, noun: .piece)))
        }
        guard count < parts, [2, 4, 5, 8].contains(parts) else { return .some(.unclear) }
        let value = ExactDecimal(Int128(count * 1000 / parts), scale: 3)
        if let unit = measureUnit() {
            position += 1
            appendMeasure(value, unit, [])
            return .some(nil)
        }
        guard case .unit(.dozen)? = word()?.content, 12 % parts == 0 else { return .some(.unclear) }
        position += 1
        return .some(.count(SizeCount(amount: 12 * count / parts, noun: .piece)))
    }

    private mutating func readRange() {
        while isMark("-", 1), number(2) != nil { position += 2 }
        position += 1
        if measureUnit() != nil {
            position += 1
            found.append(.range)
        } else if has(.trait) {
            position += 1
            found.append(.other)
        } else {
            found.append(.unclear)
        }
    }

    private mutating func readMeasure(
        _ number: SizeNumber,
        _ unit: SizeMeasure.Unit,
        _ factors: [Factor],
        _ brackets: Int
    ) {
        if case .fixed(let fixed) = unit, isFormMeasurement(fixed) { return found.append(.formMeasurement) }
        if number.isHyphenated, source == .name { return found.append(.unclear) }
        guard var amount = amount(number, unit) else { return found.append(.unclear) }
        if unit == .fixed(.lb), let ounces = self.number(), word(1)?.content == .customary(.ounce) {
            position += 2
            guard let rest = self.amount(ounces, unit), rest < ExactDecimal(16) else { return found.append(.unclear) }
            // 1 oz is 1/16 lb.
            guard let sum = rest.multiplied(by: ExactDecimal(625, scale: 4))?.adding(amount) else {
                return found.append(.unclear)
            }
            amount = sum
        }
        var factors = factors
        if unit == .fixed(.mg), let last = factors.last, last.noun == .piece || last.noun == .item {
            return readCount(factors, brackets)
        }
        for _ in 0..<brackets {
            guard isMark(")") else { return found.append(.unclear) }
            position += 1
        }
        if has(.times), let count = self.number(1) {
            position += 2
            guard let count = count.count, measureUnit() == nil, !has(.times) else { return found.append(.unclear) }
            while noun() != nil { position += 1 }
            factors.append(Factor(count: count, noun: nil, isLinked: true))
        }
        if has(.estimated), self.number(1) == nil { position += 1 }
        appendMeasure(amount, unit, factors)
    }

    private func isFormMeasurement(_ unit: MeasureUnit) -> Bool {
        switch unit {
        case .mm, .cm, .inch, .ft, .yd, .cm2, .ft2: true
        default: source == .name && [.length, .area].contains(unit.dimension)
        }
    }

    /// Returns the amount of a measure; nil if its separator may separate thousands.
    private func amount(_ number: SizeNumber, _ unit: SizeMeasure.Unit) -> ExactDecimal? {
        guard let value = number.value, !number.isUnclear, !value.isZero else { return nil }
        guard number.decimals == 3 else { return value }
        let isSmall = number.wholeDigits == 0 || number.hasLeadingZero || value < ExactDecimal(1)
        let isLarge = [.fixed(.kg), .fixed(.l), .fixed(.lb)].contains(unit) && number.wholeDigits <= 2
        return isSmall || isLarge ? value : nil
    }

    private mutating func appendMeasure(_ amount: ExactDecimal, _ unit: SizeMeasure.Unit, _ factors: [Factor]) {
        var packs = 1
        for factor in factors.reversed() {
            if !factor.isLinked {
                if packs == factor.count { continue }
                guard packs == 1, source == .size || isVolume(unit) else { return found.append(.unclear) }
            }
            packs *= factor.count
            guard packs <= 100_000 else { return found.append(.unclear) }
        }
        found.append(
            .measure(
                SizeMeasure(
                    amount: amount,
                    unit: unit,
                    packs: packs,
                    kind: pendingKind ?? .plain,
                    isApproximate: isPendingApproximate
                )
            )
        )
        pendingKind = nil
        isPendingApproximate = false
    }

    private func isVolume(_ unit: SizeMeasure.Unit) -> Bool {
        switch unit {
        case .fixed(let unit): unit.dimension == .volume
        case .customary(let unit): unit != .ounce
        }
    }

    /// Appends a count: the product of the factors, down to the first items, as their content only describes them.
    private mutating func readCount(_ factors: [Factor], _ brackets: Int) {
        for _ in 0..<brackets {
            guard isMark(")") else { return found.append(.unclear) }
            position += 1
        }
        var packs = 1
        for (index, factor) in factors.enumerated() {
            guard packs <= 1_000_000, factor.isLinked else { return found.append(.unclear) }
            if factor.noun == .item || index == factors.count - 1 {
                let count = SizeCount(amount: factor.count, packs: packs, noun: factor.noun ?? .piece)
                return found.append(.count(count))
            }
            packs *= factor.count
        }
    }
}
