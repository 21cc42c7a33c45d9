internal import JSON

/// A setting of a server: how it is read, and how `aisle config show` prints it.
struct ServerSetting {
    /// The name in errors and settings files: `pool.size`.
    let name: String
    /// Sets the property.
    let set: (inout ServerSettings, GivenSetting.Value) throws -> Void
    /// Returns the property as text; a secret only as set or not.
    let shown: (ServerSettings) -> String

    /// The environment variable: `AISLE_POOL_SIZE`.
    var variable: String { Self.variable(of: name) }

    fileprivate static func variable(of name: String) -> String {
        "AISLE_" + name.uppercased().replacing(".", with: "_")
    }

    init<Value>(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, Value>,
        shown: @escaping (Value) -> String,
        read: @escaping (GivenSetting) throws -> Value
    ) {
        self.name = name
        self.shown = { settings in shown(settings[keyPath: property]) }
        set = { settings, value in
            settings[keyPath: property] = try read(GivenSetting(name: name, value: value))
        }
    }

    static func text(_ name: String, _ property: WritableKeyPath<ServerSettings, String>) -> ServerSetting {
        ServerSetting(name, property, shown: { $0 }) { given in try given.text() }
    }

    /// - Parameter none: the text for nil.
    static func text(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, String?>,
        none: String
    ) -> ServerSetting {
        ServerSetting(name, property, shown: { $0 ?? none }) { given in try given.text() }
    }

    static func list(_ name: String, _ property: WritableKeyPath<ServerSettings, [String]>) -> ServerSetting {
        ServerSetting(name, property, shown: { $0.joined(separator: ",") }) { given in try given.list() }
    }

    static func flag(_ name: String, _ property: WritableKeyPath<ServerSettings, Bool>) -> ServerSetting {
        ServerSetting(name, property, shown: { "\($0)" }) { given in try given.flag() }
    }

    static func number(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, Int>,
        in range: ClosedRange<Int>
    ) -> ServerSetting {
        ServerSetting(name, property, shown: { "\($0)" }) { given in try given.number(in: range) }
    }

    /// - Parameter none: the text for nil.
    static func number(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, Int?>,
        in range: ClosedRange<Int>,
        none: String
    ) -> ServerSetting {
        ServerSetting(name, property, shown: { number in number.map { "\($0)" } ?? none }) { given in
            try given.number(in: range)
        }
    }

    static func seconds(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, Duration>,
        in range: ClosedRange<Int>
    ) -> ServerSetting {
        ServerSetting(name, property, shown: { "\($0.components.seconds)" }) { given in
            Duration.seconds(try given.number(in: range))
        }
    }

    static func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String,
        _ property: WritableKeyPath<ServerSettings, Value>
    ) -> ServerSetting {
        ServerSetting(name, property, shown: { $0.rawValue }) { given in
            let text = try given.text()
            guard let choice = Value(rawValue: text) else {
                let names = Value.allCases.map { $0.rawValue }
                throw given.invalid(
                    names.count == 2 ? names.joined(separator: " or ") : "one of " + names.joined(separator: ", "),
                    text
                )
            }
            return choice
        }
    }
}

/// A setting that a user set.
struct GivenSetting {
    enum Value {
        /// Of an option or a variable.
        case text(String)
        /// Of a settings file.
        case json(JSONValue)
    }

    let name: String
    let value: Value

    func text() throws -> String {
        switch value {
        case .text(let text), .json(.string(let text)): return text
        case .json: throw wrongType()
        }
    }

    /// Returns the items of a text with commas, or of an array.
    func list() throws -> [String] {
        switch value {
        case .text(let text), .json(.string(let text)):
            return text.split(separator: ",", omittingEmptySubsequences: false).map { item in
                String(item.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
            }
        case .json(.array(let items)):
            return try items.map { item in
                guard case .string(let text) = item else { throw wrongType() }
                return text
            }
        case .json: throw wrongType()
        }
    }

    /// Returns the items of a list, each parsed.
    func list<Element>(of rule: String, _ parse: (String) -> Element?) throws -> [Element] {
        try list().map { text in
            guard let element = parse(text) else { throw invalid(rule, text) }
            return element
        }
    }

    func flag() throws -> Bool {
        switch value {
        case .json(.bool(let flag)): return flag
        case .text(let text):
            switch text.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: throw wrongType()
            }
        case .json: throw wrongType()
        }
    }

    func number(in range: ClosedRange<Int>) throws -> Int {
        let (first, last) = (range.lowerBound, range.upperBound)
        let number = try number("a whole number between \(first) and \(last)")
        guard range.contains(number) else { throw failure("must be between \(first) and \(last) (got \(number))") }
        return number
    }

    /// - Parameter rule: what the setting must be, if it is more than its type.
    func number(_ rule: String? = nil) throws -> Int {
        switch value {
        case .text(let text), .json(.number(let text)):
            guard let number = Int(text) else { throw wrongType(rule) }
            return number
        case .json: throw wrongType(rule)
        }
    }

    func failure(_ problem: String) -> CommandFailure {
        CommandFailure("\(name) \(problem)", CommandFailure.configuration)
    }

    func invalid(_ rule: String, _ text: String) -> CommandFailure { failure("must be \(rule) (got “\(text)”)") }

    private func wrongType(_ rule: String? = nil) -> CommandFailure {
        let title = "\(name) (\(ServerSetting.variable(of: name)))"
        return CommandFailure(
            rule.map { "\(title) must be \($0)" } ?? "the setting \(title) has the wrong type",
            CommandFailure.configuration
        )
    }
}
