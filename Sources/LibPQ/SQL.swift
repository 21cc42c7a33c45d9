/// An SQL fragment built from source code literals, never from data.
///
/// Interpolation accepts other fragments and integers, and quotes `identifier:` and `literal:` arguments. Values
/// belong in parameters.
package struct SQL: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text of the fragment.
    package let text: String

    /// Creates a fragment from run-time text. It is not validated, so it must not contain external data.
    package init(unchecked text: String) { self.text = text }

    /// Creates a fragment from a literal.
    package init(stringLiteral text: StaticString) { self.text = text.description }
    /// Creates a fragment from an interpolated literal.
    package init(stringInterpolation parts: Interpolation) { text = parts.text }

    /// The builder of an interpolated literal.
    package struct Interpolation: StringInterpolationProtocol {
        fileprivate(set) var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }
        package mutating func appendInterpolation(_ fragment: SQL) { text += fragment.text }
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { text += String(number) }

        /// Appends a quoted identifier.
        package mutating func appendInterpolation(identifier name: String) {
            text += "\"" + name.doubling("\"") + "\""
        }

        /// Appends a quoted string literal, for SQL that does not accept a parameter.
        package mutating func appendInterpolation(literal value: String) {
            text += "E'" + value.doubling("\\").doubling("'") + "'"
        }
    }
}

extension Sequence<SQL> {
    /// Returns the fragments joined in order.
    ///
    /// - Parameter separator: the fragment between two elements.
    package func joined(_ separator: SQL = ", ") -> SQL {
        SQL(unchecked: map(\.text).joined(separator: separator.text))
    }
}

extension String {
    /// Returns the text with a scalar doubled. Works on scalars, because a quote with a combining mark is one character.
    fileprivate func doubling(_ scalar: Unicode.Scalar) -> String {
        var doubled = UnicodeScalarView()
        for next in unicodeScalars { doubled.append(contentsOf: next == scalar ? [next, next] : [next]) }
        return String(doubled)
    }
}
