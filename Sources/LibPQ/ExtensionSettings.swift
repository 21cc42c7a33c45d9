/// Settings that apply only on a server that has loaded an extension.
package struct ExtensionSettings: Sendable, Hashable {
    /// The name of a setting that only the extension defines; trusted text.
    package let marker: String
    /// Names and values; trusted text. They replace other settings of the same name.
    package let settings: [String: String]

    package init(marker: String, settings: [String: String]) {
        (self.marker, self.settings) = (marker, settings)
    }
}
