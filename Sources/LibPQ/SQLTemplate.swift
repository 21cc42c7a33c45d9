/// SQL with placeholders, each for a `Slot`, from which statements are assembled.
///
/// A slot that occurs several times becomes one parameter. Parameters are numbered when the statement is built, in the order
/// of their first occurrence, so fragments can be combined without regard to numbers.
package struct SQLTemplate<Slot: Hashable & Sendable>: Hashable, Sendable, ExpressibleByStringInterpolation {
    enum Part: Hashable, Sendable {
        case sql(SQL)
        case slot(Slot)
    }

    /// Adjacent SQL fragments are merged, so that equal texts are equal templates.
    private(set) var parts: [Part] = []

    init() {}

    package init(stringLiteral text: StaticString) { append(.sql(SQL(stringLiteral: text))) }
    package init(stringInterpolation: Interpolation) { self = stringInterpolation.template }

    mutating func append(_ part: Part) {
        if case .sql(let sql) = part, sql.text.isEmpty { return }
        if case .sql(let sql) = part, case .sql(let last)? = parts.last {
            parts[parts.endIndex - 1] = .sql("\(last)\(sql)")
        } else {
            parts.append(part)
        }
    }

    /// Returns the statement and the slots of its parameters.
    ///
    /// - Parameter name: the name of all statements of this kind in logs and traces.
    package func statement(named name: StaticString) -> (PostgresStatement, slots: [Slot]) {
        var text = ""
        var slots: [Slot] = []
        for part in parts {
            switch part {
            case .sql(let sql): text += sql.text
            case .slot(let slot):
                let index = slots.firstIndex(of: slot) ?? slots.endIndex
                if index == slots.endIndex { slots.append(slot) }
                text += "$\(index + 1)"
            }
        }
        return (PostgresStatement(SQL(unchecked: text), name: name.description), slots)
    }

    /// The builder of an interpolated literal.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var template = SQLTemplate()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: StaticString) {
            template.append(.sql(SQL(stringLiteral: literal)))
        }
        package mutating func appendInterpolation(_ other: SQLTemplate) { other.parts.forEach { template.append($0) } }
        package mutating func appendInterpolation(_ sql: SQL) { template.append(.sql(sql)) }
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) {
            template.append(.sql("\(number)"))
        }
        package mutating func appendInterpolation(_ slot: Slot) { template.append(.slot(slot)) }
    }
}

extension Sequence {
    /// Returns the templates joined in order.
    ///
    /// - Parameter separator: the fragment between two elements.
    package func joined<Slot>(_ separator: SQL = ", ") -> SQLTemplate<Slot> where Element == SQLTemplate<Slot> {
        var joined = SQLTemplate<Slot>()
        for (index, template) in enumerated() {
            if index > 0 { joined.append(.sql(separator)) }
            template.parts.forEach { joined.append($0) }
        }
        return joined
    }
}
