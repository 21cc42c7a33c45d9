/// A fragment of SQL that is made of literals in the source code, never of data.
///
/// Interpolation takes other fragments and whole numbers, and quotes what is named as an identifier or a literal. Values
/// belong into parameters.
package struct SQL: Hashable, Sendable, ExpressibleByStringInterpolation {
    package let text: String

    /// SQL of text that is known only at run time. Nobody checks it, so it must not contain anything from outside.
    package init(unchecked text: String) { self.text = text }

    package init(stringLiteral text: StaticString) { self.text = text.description }
    package init(stringInterpolation parts: Interpolation) { text = parts.text }

    /// What a string literal with interpolations is put together by.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        package mutating func appendInterpolation(_ fragment: SQL) { text += fragment.text }
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { text += String(number) }

        /// A name of a table, column or other object.
        package mutating func appendInterpolation(identifier name: String) {
            text += "\"" + name.replacing("\"", with: "\"\"") + "\""
        }

        /// A text, where SQL takes no parameter.
        package mutating func appendInterpolation(literal value: String) {
            text += "E'" + value.replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
        }
    }
}

extension Sequence<SQL> {
    /// The fragments in order, with a separator between each two.
    package func joined(_ separator: SQL = ", ") -> SQL {
        SQL(unchecked: map(\.text).joined(separator: separator.text))
    }
}
