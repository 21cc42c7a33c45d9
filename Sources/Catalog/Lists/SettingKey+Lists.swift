extension SettingKey {
    /// How a user wants their lists sorted.
    package static let listsSort = SettingKey(stored: "lists.sort")
    /// Whether checked items sink on lists that a user makes.
    package static let listsSinkChecked = SettingKey(stored: "lists.sink_checked")
}
