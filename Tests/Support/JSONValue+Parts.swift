package import JSON
internal import Catalog

/// The parts of a value, for tests that require one.
extension JSONValue {
    /// The elements of an array.
    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object.
    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    /// The text of a string.
    package var string: String? { if case .string(let text) = self { text } else { nil } }
}
