/// A notification from a change source.
package enum ChangeNotice: Sendable, Hashable {
    case changed(Set<ChangeTopic>)
    /// Notifications were lost; anything may have changed.
    case gap
}
