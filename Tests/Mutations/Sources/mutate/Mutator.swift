import SwiftSyntax

/// Finds the faults that can be put into a file.
///
/// Each fault is an expression or statement that behaves as the original until its switch, `isMutated(#)`, is on. So one build holds
/// many faults.
final class Mutator: SyntaxVisitor {
    private(set) var mutations: [Mutation] = []
    /// The result types of the functions around the current node; nil for a closure, whose type is unknown.
    private var results: [String?] = []

    init() { super.init(viewMode: .sourceAccurate) }

    private func add(_ kind: String, _ node: some SyntaxProtocol, _ mutant: String) {
        add(kind, node, mutant, code: "(isMutated(#) ? (\(mutant)) : (\(node.trimmedDescription)))")
    }

    private func add(_ kind: String, _ node: some SyntaxProtocol, _ mutant: String, code: String) {
        mutations.append(Mutation(kind, node, mutant, code: code))
    }

    // MARK: - Places without faults

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    /// Patterns of cases are not expressions.
    override func visit(_ node: SwitchCaseItemSyntax) -> SyntaxVisitorContinueKind {
        if let clause = node.whereClause { walk(clause) }
        return .skipChildren
    }

    override func visit(_ node: MatchingPatternConditionSyntax) -> SyntaxVisitorContinueKind {
        walk(node.initializer)
        return .skipChildren
    }

    /// A failed precondition ends the process: it is not a fault that a caller can see.
    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.calledExpression.trimmedDescription
        if ["precondition", "assert", "fatalError", "preconditionFailure"].contains(name) { return .skipChildren }
        let unit = name.split(separator: ".").last.map(String.init) ?? ""
        let smaller = [
            "seconds": "milliseconds", "milliseconds": "microseconds", "minutes": "seconds", "hours": "minutes",
            "days": "hours",
        ]
        if let other = smaller[unit], name.hasSuffix("." + unit), name.hasPrefix(".") || name.hasPrefix("Duration"),
            node.arguments.count == 1
        {
            add("unit of time", node, "\(name.dropLast(unit.count))\(other)(\(node.arguments.trimmedDescription))")
        }
        swapArguments(node)
        return .visitChildren
    }

    private func swapArguments(_ call: FunctionCallExprSyntax) {
        let arguments = Array(call.arguments)
        for (index, (a, b)) in zip(arguments, arguments.dropFirst()).enumerated() {
            let (first, second) = (a.expression.trimmedDescription, b.expression.trimmedDescription)
            // Names of the same kind have the same type often enough.
            guard first != second, Self.isName(a.expression), Self.isName(b.expression),
                a.label?.text != nil || b.label?.text == nil
            else { continue }
            var swapped = arguments.map(\.trimmedDescription)
            swapped[index] = (a.label.map { "\($0.text): " } ?? "") + second + (a.trailingComma == nil ? "" : ",")
            swapped[index + 1] = (b.label.map { "\($0.text): " } ?? "") + first + (b.trailingComma == nil ? "" : ",")
            let trailing = (call.trailingClosure?.trimmedDescription).map { " " + $0 } ?? ""
            guard call.additionalTrailingClosures.isEmpty, trailing.isEmpty else { continue }
            add(
                "swapped arguments",
                call,
                "\(call.calledExpression.trimmedDescription)(\(swapped.joined(separator: " ")))"
            )
            return
        }
    }

    private static func isName(_ expression: ExprSyntax) -> Bool {
        expression.is(DeclReferenceExprSyntax.self) || expression.is(MemberAccessExprSyntax.self)
    }

    // MARK: - Functions, for the types of results

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        results.append(node.signature.returnClause?.type.trimmedDescription ?? "Void")
        return .visitChildren
    }
    override func visitPost(_ node: FunctionDeclSyntax) { results.removeLast() }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        results.append(nil)
        return .visitChildren
    }
    override func visitPost(_ node: ClosureExprSyntax) { results.removeLast() }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        results.append("init")
        return .visitChildren
    }
    override func visitPost(_ node: InitializerDeclSyntax) { results.removeLast() }
    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        results.append(node.typeAnnotation?.type.trimmedDescription)
        return .visitChildren
    }
    override func visitPost(_ node: PatternBindingSyntax) { results.removeLast() }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        guard let value = node.expression, let type = results.last ?? nil else { return .visitChildren }
        let text = value.trimmedDescription
        if type == "Bool" {
            add("result", value, "!(\(text))")
        } else if type.hasSuffix("?"), text != "nil" {
            add("result", value, "nil")
        } else if type.hasPrefix("["), text != "[]", text != "[:]" {
            add("result", value, type.contains(":") ? "[:]" : "[]")
        }
        return .visitChildren
    }

    // MARK: - Operators and literals

    private static let operators: [String: (kind: String, others: [String])] = [
        "<": ("boundary", ["<="]), "<=": ("boundary", ["<"]), ">": ("boundary", [">="]), ">=": ("boundary", [">"]),
        "==": ("comparison", ["!="]), "!=": ("comparison", ["=="]), "===": ("comparison", ["!=="]),
        "&&": ("condition", ["||"]), "||": ("condition", ["&&"]),
        "+": ("arithmetic", ["-"]), "-": ("arithmetic", ["+"]), "*": ("arithmetic", ["/"]), "/": ("arithmetic", ["*"]),
        "%": ("arithmetic", ["/"]), "&": ("arithmetic", ["|"]), "|": ("arithmetic", ["&"]),
        "<<": ("arithmetic", [">>"]), ">>": ("arithmetic", ["<<"]), "&+": ("arithmetic", ["&-"]),
        "&-": ("arithmetic", ["&+"]),
        "..<": ("boundary", ["..."]),
    ]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return .visitChildren }
        let (left, right) = (node.leftOperand.trimmedDescription, node.rightOperand.trimmedDescription)
        // Texts can be joined only.
        let hasText = [left, right].contains { $0.hasPrefix("\"") || $0.hasPrefix("[") }
        if let (kind, others) = Self.operators[sign], !(kind == "arithmetic" && hasText) {
            for other in others { add(kind, node, "\(left) \(other) \(right)") }
        }
        switch sign {
        case "<", ">": add("comparison", node, "\(left) \(sign == "<" ? ">" : "<") \(right)")
        case "&&", "||":
            add("dropped condition", node, left)
            add("dropped condition", node, right)
        case "??": add("default", node, right)
        default: break
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { add("comparison", node, node.expression.trimmedDescription) }
        return .visitChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard let number = Int(node.literal.text.replacing("_", with: "")), number < 1 << 30 else {
            return .skipChildren
        }
        add("boundary", node, "\(number + 1)")
        if number > 0 { add("boundary", node, "\(number - 1)") }
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add("default", node, node.literal.text == "true" ? "false" : "true")
        return .skipChildren
    }

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        guard let condition = node.condition.as(ExprSyntax.self), !condition.is(BooleanLiteralExprSyntax.self) else {
            return .visitChildren
        }
        let text = condition.trimmedDescription
        add("dropped condition", condition, "true", code: "(isMutated(#) || (\(text)))")
        add("dropped condition", condition, "false", code: "(!isMutated(#) && (\(text)))")
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        add("comparison", node.condition, "!(\(node.condition.trimmedDescription))")
        return .visitChildren
    }

    override func visit(_ node: ArrayExprSyntax) -> SyntaxVisitorContinueKind {
        let elements = node.elements.map { $0.expression.trimmedDescription }
        // Lists of parameters and parts of keys; not long tables.
        if (2...6).contains(elements.count), !elements.contains(where: { $0.hasPrefix(".") }) {
            for index in elements.indices {
                let rest = elements.enumerated().filter { $0.offset != index }.map(\.element)
                add("removed element", node, "[\(rest.joined(separator: ", "))]")
            }
        }
        return .visitChildren
    }

    // MARK: - Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self), let item = node.item.as(ExprSyntax.self) else {
            return .visitChildren
        }
        let text = item.trimmedDescription
        var core = item
        var throwsError = false
        while true {
            if let attempt = core.as(TryExprSyntax.self) {
                throwsError = throwsError || attempt.questionOrExclamationMark == nil
                core = attempt.expression
            } else if let wait = core.as(AwaitExprSyntax.self) {
                core = wait.expression
            } else {
                break
            }
        }
        let isAssignment = core.as(InfixOperatorExprSyntax.self)?.operator.is(AssignmentExprSyntax.self) == true
        let sign =
            core.as(InfixOperatorExprSyntax.self)?.operator.as(BinaryOperatorExprSyntax.self)?.operator.text ?? ""
        let isCall = core.is(FunctionCallExprSyntax.self)
        let changes = isAssignment || (sign.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(sign))
        // The only statement of a function may be its value.
        let isOnly = list.count == 1 && !["Void", "init"].contains(results.last ?? nil)
        guard changes || isCall, !(isOnly && isCall) else { return .visitChildren }
        add("removed statement", node, "", code: "if !isMutated(#) { \(text) }")
        if throwsError, isCall {
            add(
                "ignored error",
                node,
                text.replacing("try ", with: "try? "),
                code: "do { \(text) } catch { if !isMutated(#) { throw error } }"
            )
        }
        if sign == "+=" || sign == "-=" {
            let other = sign == "+=" ? "-=" : "+="
            let changed = text.replacing(" \(sign) ", with: " \(other) ")
            add("arithmetic", node, changed, code: "if isMutated(#) { \(changed) } else { \(text) }")
        }
        return .visitChildren
    }

    override func visit(_ node: DeferStmtSyntax) -> SyntaxVisitorContinueKind {
        let body = node.body.statements.trimmedDescription
        add("removed statement", node, "", code: "defer { if !isMutated(#) { \(body) } }")
        return .skipChildren
    }

    // MARK: - SQL

    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let text = node.segments.trimmedDescription
        let isSQL = ["SELECT ", "UPDATE ", "INSERT ", "DELETE ", " AND ", "WHERE ", "ORDER BY", "FROM "].contains {
            text.contains($0)
        }
        guard isSQL, node.openingPounds == nil else { return .visitChildren }
        for case .stringSegment(let segment) in node.segments { add(sql: segment) }
        return .visitChildren
    }

    /// The replacements in a segment of SQL. They stay within a line of the literal.
    private func add(sql segment: StringSegmentSyntax) {
        let text = segment.content.text
        let base = segment.positionAfterSkippingLeadingTrivia.utf8Offset
        for (kind, pattern, replacement) in Self.sqlFaults {
            for match in text.matches(of: pattern) {
                let found = String(text[match.range])
                guard !found.contains("\""), !found.contains("\\"), !found.contains("\n") else { continue }
                let start = base + text.utf8.distance(from: text.startIndex, to: match.range.lowerBound)
                let mutant = replacement(found)
                mutations.append(
                    Mutation(
                        "SQL: " + kind,
                        start,
                        start + found.utf8.count,
                        found,
                        mutant,
                        code: "\\(sqlMutation(#, \"\(mutant)\", \"\(found)\"))"
                    )
                )
            }
        }
    }

    private static var sqlFaults: [(String, Regex<Substring>, (String) -> String)] {
        [
            // A condition up to the next keyword, parenthesis or end of the line.
            ("removed condition", #/AND (?:(?!AND|ORDER|GROUP|FOR |RETURNING|LIMIT|OR )[^()\\"\n;])+/#, { _ in "" }),
            (
                "removed condition", #/WHERE (?:(?!AND|ORDER|GROUP|FOR |RETURNING|LIMIT|OR )[^()\\"\n;])+(?=AND)AND/#,
                { _ in "WHERE" }
            ),
            ("removed order", #/ORDER BY [^()\\"\n;]+(?=\)|$)/#, { _ in "" }),
            ("reversed order", #/ DESC\b/#, { _ in "" }),
            ("removed lock", #/FOR (?:NO KEY )?UPDATE(?: OF \w+)?|FOR SHARE|FOR KEY SHARE/#, { _ in "" }),
            ("removed limit", #/LIMIT \$?\d+/#, { _ in "" }),
            ("boundary", #/ (?:<=|>=) /#, { $0 == " <= " ? " < " : " > " }),
            ("boundary", #/ (?:<|>) /#, { $0 == " < " ? " <= " : " >= " }),
            ("comparison", #/ = /#, { _ in " <> " }),
            ("comparison", #/IS DISTINCT FROM/#, { _ in "IS NOT DISTINCT FROM" }),
            ("comparison", #/IS NOT NULL/#, { _ in "IS NULL" }),
            ("comparison", #/IS NULL/#, { _ in "IS NOT NULL" }),
            ("comparison", #/NOT EXISTS/#, { _ in "EXISTS" }),
            ("arithmetic", #/ \+ 1\b/#, { _ in "" }),
            ("arithmetic", #/ \+ /#, { _ in " - " }),
            ("unit of time", #/interval '1 day'/#, { _ in "interval '1 hour'" }),
            ("unit of time", #/interval '1 hour'/#, { _ in "interval '1 minute'" }),
            ("default", #/coalesce\(/#, { _ in "nullif(" }),
            ("distinct", #/SELECT DISTINCT /#, { _ in "SELECT " }),
            ("function", #/greatest\(/#, { _ in "least(" }),
            ("function", #/least\(/#, { _ in "greatest(" }),
            ("function", #/max\(/#, { _ in "min(" }),
            ("function", #/min\(/#, { _ in "max(" }),
            ("join", #/LEFT JOIN/#, { _ in "JOIN" }),
        ]
    }
}
