import Catalog
@testable import CatalogHTTP
import CatalogJSON
import HTTPTypes
import JSON

// The member `paths` of the document, which follows from the endpoint table.
extension OpenAPI {
    /// Returns the document with the paths of endpoints and the lists of the code in place of its own.
    static func document(_ endpoints: [Endpoint]) throws -> String {
        guard case .object(var members) = try JSONReader.parse(document) else {
            throw CatalogError.fault("openapi.json is not an object")
        }
        for index in members.indices {
            switch members[index].name {
            case "paths": members[index].value = paths(endpoints)
            case "components": members[index].value = try listing(in: members[index].value)
            default: break
            }
        }
        var text = ""
        JSONValue.object(members).append(to: &text, indent: "")
        return text + "\n"
    }

    /// Returns the path items of all documented endpoints, in the order of the table.
    private static func paths(_ endpoints: [Endpoint]) -> JSONValue {
        var items: [JSONValue.Member] = []
        for endpoint in endpoints {
            guard let operation = endpoint.operation else { continue }
            let member = JSONValue.Member(endpoint.method.rawValue.lowercased(), endpoint.description(operation))
            if let index = items.firstIndex(where: { $0.name == endpoint.path }),
                case .object(let others) = items[index].value
            {
                items[index].value = .object(others + [member])
            } else {
                items.append(JSONValue.Member(endpoint.path, .object([member])))
            }
        }
        return .object(items)
    }
}

extension Endpoint {
    /// Returns the operation object. Source: OpenAPI 3.1, section 4.8.10.
    fileprivate func description(_ operation: Operation) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("operationId", .string(operation.id)),
            .init("tags", .array([.string(operation.tag.rawValue)])),
            .init("summary", .string(operation.summary)),
            .init("description", .string(operation.description)),
            .init("security", security),
        ]
        let parameters = describedParameters(operation)
        if !parameters.isEmpty {
            members.append(.init("parameters", .array(parameters.map { .reference("parameters", $0.component) })))
        }
        if let body = operation.body?.description { members.append(.init("requestBody", body)) }
        members.append(.init("responses", .object(responses(operation))))
        return .object(members)
    }

    private var security: JSONValue {
        func bearer(_ scopes: [Scope]) -> JSONValue {
            .object([.init("bearer", .array(scopes.map { .string($0.rawValue) }))])
        }
        switch access {
        case .open: return .array([])
        case .optionalToken where takes(.ticket): return .array([bearer([]), .object([.init("ticket", .array([]))])])
        case .optionalToken: return .array([.object([]), bearer([])])
        case .user: return .array([bearer([])])
        case .scope(let scope): return .array([bearer([scope])])
        }
    }

    /// Returns the parameters of the path, the declared parameters, and the parameters that follow from the kind of the endpoint.
    private func describedParameters(_ operation: Operation) -> [Parameter] {
        var all = pathParameters.map(Parameter.path) + (operation.parameters ?? [])
        if method == .get, operation.hasTag { all.append(.ifNoneMatch) }
        if readsReplicas { all.append(.seen) }
        return all
    }

    /// The names of the path's parameters.
    private var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    private func takes(_ parameter: Parameter) -> Bool { operation?.parameters?.contains(parameter) == true }

    /// Whether `If-Match` or `If-None-Match` may prevent a change.
    private var hasPrecondition: Bool { operation?.parameters?.contains { $0.name.hasPrefix("If-") } == true }

    /// Returns the responses by status.
    private func responses(_ operation: Operation) -> [JSONValue.Member] {
        var all: [Int: Operation.Answer] = [:]
        if method == .get, operation.hasTag { all[304] = .component("NotModified") }
        if let parameters = operation.parameters, isCharged || method != .get || !parameters.isEmpty {
            all[400] = .component(malformed)
        }
        if isCharged { (all[401], all[429]) = (.component("Unauthenticated"), .component("RateLimited")) }
        if case .scope = access { all[403] = .component("Forbidden") }
        if pathParameters.contains(where: { $0 != "key" }) { all[404] = .component("NotFound") }
        if let body = operation.body {
            (all[408], all[413]) = (.component("PayloadTimeout"), .component("TooLarge"))
            if body.isRead {
                all[415] = .component("UnsupportedMediaType")
                all[422] = .component(takes(.idempotencyKey) ? "UnprocessableOrReused" : "Unprocessable")
            }
        }
        if method != .get, isCharged { all[409] = .component("Conflict") }
        if hasPrecondition { all[412] = .component("PreconditionFailed") }
        if isCharged { all[503] = .component(method == .get ? "Unavailable" : "ReadOnly") }
        if isCharged || method != .get { all[500] = .component("Fault") }
        all.merge(operation.responses) { $1 }
        return all.sorted { $0.key < $1.key }.map { .init(String($0.key), $0.value.description(changes: !isReadOnly)) }
    }

    /// The component for status 400, which lists the types of problems.
    private var malformed: String {
        switch (takes(.sort) || takes(.fromSort), takes(.cursor)) {
        case (false, false): "BadRequest"
        case (false, true): "BadCursorRequest"
        case (true, false): "BadSortRequest"
        case (true, true): "BadPageRequest"
        }
    }
}

extension Operation {
    /// Whether the response of success has an entity tag.
    fileprivate var hasTag: Bool {
        responses.values.contains { answer in
            switch answer {
            case .json(_, _, let headers): headers.contains(.tag)
            case .component(_, let isTagged): isTagged
            case .empty: false
            }
        }
    }
}

extension Operation.Body {
    fileprivate var isRead: Bool { if case .ignored = self { false } else { true } }

    /// The request body object; nil without a description.
    fileprivate var description: JSONValue? {
        switch self {
        case .json(let schema): Self.content([("application/json", .reference("schemas", schema))])
        case .optionalJSON(let schema):
            Self.content([("application/json", .reference("schemas", schema))], isRequired: false)
        case .mergePatch(let schema): Self.content([("application/merge-patch+json", .reference("schemas", schema))])
        case .file(let types): Self.content(types.map { ($0, .reference("schemas", "File")) })
        case .empty, .ignored: nil
        }
    }

    private static func content(_ schemas: [(type: String, schema: JSONValue)], isRequired: Bool = true) -> JSONValue {
        .object([
            .init("required", .bool(isRequired)),
            .init("content", .object(schemas.map { .init($0.type, .object([.init("schema", $0.schema)])) })),
        ])
    }
}

extension Operation.Answer {
    /// Returns the response object.
    ///
    /// - Parameter changes: whether the operation changes something, so that the response has a position to wait for.
    fileprivate func description(changes: Bool) -> JSONValue {
        var (text, content, own): (String, JSONValue?, [Operation.Header])
        switch self {
        case .component(let name, _): return .reference("responses", name)
        case .empty(let description): (text, content, own) = (description, nil, [])
        case .json(let description, let schema, let headers):
            content = .object([
                .init("application/json", .object([.init("schema", .reference("schemas", schema))]))
            ])
            (text, own) = (description, headers)
        }
        var headers = [JSONValue.Member("X-Request-Id", .reference("headers", "RequestId"))]
        if changes { headers.append(.init("Aisle-Seen", .reference("headers", "Seen"))) }
        headers += own.map { .init($0.name, .reference("headers", $0.rawValue)) }
        var members: [JSONValue.Member] = [.init("description", .string(text)), .init("headers", .object(headers))]
        if let content { members.append(.init("content", content)) }
        return .object(members)
    }
}

extension JSONValue {
    fileprivate static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object([Member("$ref", .string("#/components/\(kind)/\(name)"))])
    }

    /// The maximum length of an array or object on one line, in characters.
    private static let lineLimit = 120

    /// Appends the value, with each member or element of a long object or array on a line of its own.
    ///
    /// - Parameter name: the name of the value as a member.
    fileprivate func append(to text: inout String, indent: String, name: String? = nil) {
        let (line, label) = (line, name.map { JSONValue.string($0).text + ": " } ?? "")
        text += label
        let length = indent.utf8.count + label.utf8.count + line.utf8.count
        guard indent.isEmpty || length > Self.lineLimit, let (opening, closing, parts) = parts else {
            return text += line
        }
        let inner = indent + " "
        text += opening
        for (index, part) in parts.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + inner
            part.value.append(to: &text, indent: inner, name: part.name)
        }
        text += "\n" + indent + closing
    }

    /// The value on one line.
    private var line: String {
        guard let (opening, closing, parts) = parts else { return text }
        let texts = parts.map { part in (part.name.map { JSONValue.string($0).text + ": " } ?? "") + part.value.line }
        return opening + texts.joined(separator: ", ") + closing
    }

    /// The brackets, and the members or elements; nil for other values.
    private var parts: (opening: String, closing: String, parts: [(name: String?, value: JSONValue)])? {
        switch self {
        case .array(let elements): ("[", "]", elements.map { (nil, $0) })
        case .object(let members): ("{", "}", members.map { ($0.name, $0.value) })
        default: nil
        }
    }
}
