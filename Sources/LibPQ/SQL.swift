/// A fragment of SQL that is made of literals in the source code, never of data.
///
/// Interpolation takes other fragments and whole numbers, and quotes what is named as an identifier or a literal. Values
/// belong in parameters.
package struct SQL: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text of the fragment.
    package let text: String

    /// SQL of text that is known only at run time. Nobody checks it, so it must not contain anything from outside.
    package init(unchecked text: String) { self.text = text }

    /// The fragment that a literal says.
    package init(stringLiteral text: StaticString) { self.text = text.description }
    /// The fragment that a literal with interpolations says.
    package init(stringInterpolation parts: Interpolation) { text = parts.text }

    /// The builder of an interpolated literal.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        package mutating func appendInterpolation(_ fragment: SQL) { text += fragment.text }
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { text += String(number) }

        /// A name of a table, column or other object.
        package mutating func appendInterpolation(identifier name: String) {
            text += "\"" + name.doubling("\"") + "\""
        }

        /// A text, where SQL takes no parameter.
        package mutating func appendInterpolation(literal value: String) {
            text += "E'" + value.doubling("\\").doubling("'") + "'"
        }
    }
}

extension Sequence<SQL> {
    /// The fragments in order.
    ///
    /// - Parameter separator: written between each two.
    package func joined(_ separator: SQL = ", ") -> SQL {
        SQL(unchecked: map(\.text).joined(separator: separator.text))
    }
}

extension String {
    /// The text with a scalar doubled. Characters would not do: a quote and a combining mark are one character.
    fileprivate func doubling(_ scalar: Unicode.Scalar) -> String {
        var doubled = UnicodeScalarView()
        for next in unicodeScalars { doubled.append(contentsOf: next == scalar ? [next, next] : [next]) }
        return String(doubled)
    }
}
