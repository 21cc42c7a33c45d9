extension SettingKey {
    /// The user's sort for their lists.
    package static let listsSort = SettingKey(stored: "lists.sort")
    /// Whether checked items sink on the user's new lists.
    package static let listsSinkChecked = SettingKey(stored: "lists.sink_checked")
}
