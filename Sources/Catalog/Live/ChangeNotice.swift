/// What a source of changes tells.
package enum ChangeNotice: Sendable, Hashable {
    case changed(Set<ChangeTopic>)
    /// Anything may have changed: some were not heard.
    case gap
}
