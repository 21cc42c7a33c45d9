internal import ArgumentParser
internal import Catalog

// Values of the domain as command line arguments.

extension AuditAction: ExpressibleByArgument {}

extension CatalogKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension Scope: ExpressibleByArgument {}

extension SettingKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension UserID: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
