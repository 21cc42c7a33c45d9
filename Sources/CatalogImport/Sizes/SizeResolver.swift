internal import Catalog

/// Decides on the size that the statements of a text agree on.
struct SizeResolver {
    let source: SizeText.Source
    let context: SizeText.Context

    func size(_ statements: [SizeStatement]) -> Size? {
        guard !statements.contains(.unclear), let statements = summed(statements) else { return nil }
        var measures: [SizeMeasure] = []
        var counts: [SizeCount] = []
        for (index, statement) in statements.enumerated() {
            switch statement {
            case .measure(var measure):
                // `6 packs, 16 fl oz cans`: the container after the measure says that each has it.
                if measure.packs == 1, statements[index...].dropFirst().first == .container, counts.count == 1,
                    [.bundle, .container].contains(counts[0].noun), counts[0].total > 1, isEach(measure)
                {
                    measure.packs = counts[0].total
                }
                measures.append(measure)
            case .count(let count):
                if count.noun != .piece || count.total > 1, isFollowedByMeasure(index, statements) { return nil }
                // `12 mega rolls = 48 regular rolls`: the right side is a comparison.
                if count.noun == .bundle, count.total == 1, source == .name { continue }  // `1er choix`
                let isComparison = index > 0 && statements[index - 1] == .mark("=") && count.noun == .item
                if !(isComparison && counts.last?.noun == .item) { counts.append(count) }
            default: break
            }
        }
        let isStrength = { (measure: SizeMeasure) in measure.unit == .fixed(.mg) }
        if source == .name || !counts.isEmpty || !measures.allSatisfy(isStrength) {
            measures.removeAll(where: isStrength)
        }
        guard !measures.isEmpty else { return count(counts, statements) }
        guard !statements.contains(.range) else { return nil }
        return content(measures, counts, statements)
    }

    /// Whether a measure follows after words of which one may link them.
    private func isFollowedByMeasure(_ index: Int, _ statements: [SizeStatement]) -> Bool {
        let rest = statements[(index + 1)...]
        guard let next = rest.firstIndex(where: \.isMeasure) else { return false }
        return rest[..<next].contains(.other)
    }

    private func isEach(_ measure: SizeMeasure) -> Bool {
        guard source == .name else { return true }
        return switch measure.unit {
        case .fixed(let unit): unit.dimension == .volume
        case .customary(let unit): unit != .ounce
        }
    }

    // MARK: - Counts

    /// Returns the size of a product without a measure.
    private func count(_ counts: [SizeCount], _ statements: [SizeStatement]) -> Size? {
        guard let first = counts.first else { return bareUnit(statements) }
        guard source == .size || isAtEnd(statements, \.isCount) else { return nil }
        guard counts.allSatisfy({ $0.total == first.total }), !hasGap(statements) else { return nil }
        let isDose = counts.allSatisfy { $0.noun == .dose }
        return try? Size(
            amount: ExactDecimal(Int128(first.amount)),
            unit: isDose ? .dose : .piece,
            packs: first.packs
        )
    }

    /// Whether something else that counts follows a count after an unknown word, which may link them.
    private func hasGap(_ statements: [SizeStatement]) -> Bool {
        guard let count = statements.firstIndex(where: \.isCount) else { return false }
        let rest = statements[count...].drop { $0 != .other }
        return rest.contains { statement in
            switch statement {
            case .count, .container, .bareUnit: true
            default: false
            }
        }
    }

    /// Whether no word follows a statement: `11er Rösti` begins with a brand.
    private func isAtEnd(_ statements: [SizeStatement], _ isWanted: (SizeStatement) -> Bool) -> Bool {
        guard let last = statements.lastIndex(where: isWanted) else { return false }
        return !statements[last...].contains(.other)
    }

    /// Returns the size of counter goods, of which the text states only the unit.
    private func bareUnit(_ statements: [SizeStatement]) -> Size? {
        var units: Set<MeasureUnit> = []
        var isWhole = source == .size
        for statement in statements {
            switch statement {
            case .bareUnit(let unit, true): units.insert(unit)
            case .bareUnit(let unit, false) where source == .size:
                units.insert(unit)
                isWhole = isWhole && [.kg, .lb, .piece, .pair, .dozen].contains(unit)
            case .mark: break
            case .range, .formMeasurement: return nil
            default: isWhole = false
            }
        }
        let isStated = isWhole || (source == .size ? statements.contains(where: \.isPer) : isAtEnd(statements, \.isPer))
        guard units.count == 1, isStated, let unit = units.first else { return nil }
        return try? Size(amount: ExactDecimal(1), unit: unit)
    }

    // MARK: - Measures

    private func content(
        _ measures: [SizeMeasure],
        _ counts: [SizeCount],
        _ statements: [SizeStatement]
    ) -> Size? {
        let drained = measures.filter { $0.kind == .drained }
        let plain = measures.filter { $0.kind != .drained }
        guard let content = agreed(plain.isEmpty ? drained : plain) else { return nil }
        for count in counts where count.noun != .dose && count.noun != .item && count.total != 1 {
            guard count.total == content.packs else { return nil }
        }
        guard !statements.contains(where: \.isPer), isPlausible(content) else { return nil }
        if plain.isEmpty || drained.isEmpty { return size(content, drained: nil) }
        guard let part = agreed(drained) else { return nil }
        return withDrained(content, part)
    }

    /// A known measure.
    private struct Known {
        var amount: ExactDecimal
        var unit: MeasureUnit
        var packs: Int
        var isApproximate: Bool

        var base: ExactDecimal? { amount.multiplied(by: unit.factor) }
        var total: ExactDecimal? { base?.multiplied(by: ExactDecimal(Int128(packs))) }
    }

    private func size(_ known: Known, drained: ExactDecimal?) -> Size? {
        try? Size(
            amount: known.amount,
            unit: known.unit,
            packs: known.packs,
            drained: drained,
            isApproximate: known.isApproximate
        )
    }

    /// Returns the size with the drained amount of a pack; nil if it exceeds the content or may concern all packs.
    private func withDrained(_ content: Known, _ drained: Known) -> Size? {
        guard content.unit.dimension == drained.unit.dimension, let whole = content.base, let part = drained.base,
            part < whole || part == whole,
            drained.packs == content.packs
                || (drained.packs == 1 && part.multiplied(by: ExactDecimal(2)).map { $0 >= whole } ?? false)
        else { return nil }
        if content.unit == drained.unit { return size(content, drained: drained.amount) }
        guard
            let unit = MeasureUnit.allCases.first(where: {
                $0.dimension == content.unit.dimension && $0.factor == ExactDecimal(1)
            })
        else { return nil }
        let base = Known(amount: whole, unit: unit, packs: content.packs, isApproximate: content.isApproximate)
        return size(base, drained: part)
    }

    /// Returns the measure that all confirm: with the most packs among equal ones, the first among rounded ones.
    private func agreed(_ measures: [SizeMeasure]) -> Known? {
        let all = measures.map { (measure: $0, units: units($0, among: measures)) }
        guard var agreed = all.first(where: { $0.units.count == 1 }).map({ known($0.measure, $0.units[0]) }) else {
            return nil
        }
        for (measure, units) in all {
            guard let match = units.map({ known(measure, $0) }).first(where: { matches($0, agreed) }) else {
                return nil
            }
            if match.total == agreed.total, match.packs > agreed.packs { agreed = match }
            agreed.isApproximate = agreed.isApproximate || measure.isApproximate
        }
        return agreed
    }

    private func known(_ measure: SizeMeasure, _ unit: MeasureUnit) -> Known {
        Known(amount: measure.amount, unit: unit, packs: measure.packs, isApproximate: measure.isApproximate)
    }

    /// Whether two measures are equal, or one is the other in units of another system, rounded by at most 1.5 %.
    private func matches(_ a: Known, _ b: Known) -> Bool {
        guard a.unit.dimension == b.unit.dimension, let first = a.total, let second = b.total else { return false }
        if first == second { return true }
        guard a.unit.isMetric != b.unit.isMetric else { return false }
        let (small, large) = (min(first, second), max(first, second))
        guard let low = large.multiplied(by: ExactDecimal(985, scale: 3)) else { return false }
        return small >= low
    }

    /// Returns the units that a measure may have.
    private func units(_ measure: SizeMeasure, among all: [SizeMeasure]) -> [MeasureUnit] {
        let customary: ImportLanguage.CustomaryUnit
        switch measure.unit {
        case .fixed(let unit): return [unit]
        case .customary(let unit): customary = unit
        }
        func chosen(_ us: MeasureUnit, _ uk: MeasureUnit) -> [MeasureUnit] {
            switch context.pricing {
            case .us: [us]
            case .gb: [uk]
            default: [us, uk]
            }
        }
        switch customary {
        case .fluidOunce: return chosen(.floz_us, .floz_uk)
        case .pint: return chosen(.pt_us, .pt_uk)
        case .quart: return context.pricing == .us ? [.qt_us] : []
        case .gallon: return chosen(.gal_us, .gal_uk)
        case .ounce:
            if measure.kind != .plain || all.contains(where: { $0.unit.isMass }) || context.dimension == .mass {
                return context.dimension == .volume ? [] : [.oz]
            }
            if all.contains(where: { $0.unit.isVolume }) || context.dimension == .volume {
                return chosen(.floz_us, .floz_uk)
            }
            return [.oz, .floz_us, .floz_uk]
        }
    }

    /// Whether the end of a name states what a shop may sell: a name may have a misprint, such as `925 l` of milk.
    private func isPlausible(_ known: Known) -> Bool {
        guard source == .name, [.mass, .volume].contains(known.unit.dimension) else { return true }
        return known.base.map { $0 <= ExactDecimal(200_000) } ?? false
    }

    // MARK: - Sums

    /// Returns the statements with sums such as `250 g + 50 g` added up; nil for a sum that is unclear.
    private func summed(_ statements: [SizeStatement]) -> [SizeStatement]? {
        guard statements.contains(.mark("+")) else { return statements }
        var summed: [SizeStatement] = []
        var index = 0
        while index < statements.count {
            defer { index += 1 }
            if statements[index] == .mark("+"), index + 1 == statements.count { return nil }
            guard statements[index] == .mark("+"), let last = summed.last, last.isMeasure || last.isCount else {
                summed.append(statements[index])
                continue
            }
            switch (last, statements[index + 1]) {
            case (.measure(let a), .measure(let b)):
                guard let sum = sum(a, b) else { return nil }
                summed[summed.count - 1] = .measure(sum)
                index += 1
            case (.count(let a), .count(let b)):
                guard a.noun == b.noun else { return nil }
                summed[summed.count - 1] = .count(SizeCount(amount: a.total + b.total, noun: a.noun))
                index += 1
            // A gift, or a percentage of the content.
            default: return nil
            }
        }
        return summed
    }

    private func sum(_ a: SizeMeasure, _ b: SizeMeasure) -> SizeMeasure? {
        guard a.kind == b.kind, case .fixed(let first) = a.unit, case .fixed(let second) = b.unit,
            first.dimension == second.dimension
        else { return nil }
        let (x, y) = (known(a, first), known(b, second))
        guard let one = first == second ? x.amount.multiplied(by: ExactDecimal(Int128(a.packs))) : x.total,
            let other = first == second ? y.amount.multiplied(by: ExactDecimal(Int128(b.packs))) : y.total,
            let amount = one.adding(other)
        else { return nil }
        let base = MeasureUnit.allCases.first { $0.dimension == first.dimension && $0.factor == ExactDecimal(1) }
        return SizeMeasure(
            amount: amount,
            unit: .fixed(first == second ? first : base ?? first),
            kind: a.kind,
            isApproximate: a.isApproximate || b.isApproximate
        )
    }
}

extension SizeMeasure.Unit {
    fileprivate var isMass: Bool {
        if case .fixed(let unit) = self { unit.dimension == .mass } else { false }
    }

    fileprivate var isVolume: Bool {
        switch self {
        case .fixed(let unit): unit.dimension == .volume
        case .customary(let unit): unit != .ounce
        }
    }
}

extension MeasureUnit {
    fileprivate var isMetric: Bool {
        switch self {
        case .oz, .lb, .floz_us, .pt_us, .qt_us, .gal_us, .floz_uk, .pt_uk, .gal_uk, .inch, .ft, .yd, .ft2: false
        default: true
        }
    }
}
