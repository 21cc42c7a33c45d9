internal import CExpat

/// A streaming reader of XML: bytes in, elements and texts out, in bounded memory.
///
/// It reads neither external entities nor documents with a document type, which could define entities of any size.
package final class XMLStream {
    package enum Event {
        /// An element starts: the name as written, the attributes, and the line, from 1.
        case start(name: String, attributes: [String: String], line: Int)
        case end(line: Int)
        /// A part of the text of an element; there may be several.
        case text(UnsafeBufferPointer<UInt8>)
    }

    /// Why a document could not be read.
    package struct Fault: Error, Equatable {
        package let line: Int
        package let reason: String
    }

    private let parser: XML_Parser
    private var emit: ((Event) throws -> Void)?
    private var failure: (any Error)?
    private var depth = 0
    private var byteCount = 0
    /// The characters of the bytes of an encoding that Expat does not know; 0xFFFD for none.
    private let characters: (_ encoding: String) -> [UInt32]?

    private static let depthLimit = 32
    /// The maximum length of a tag or a comment, in bytes. Expat keeps an unfinished one in memory.
    private static let tokenLimit = 1 << 20
    private static let stepSize = 64 << 10
    private static let hasDocumentType = "has a document type, which is not read; remove the line with <!DOCTYPE"

    /// - Parameters:
    ///   - encoding: the encoding; nil for the one that the document states, or UTF-8.
    ///   - characters: returns the characters of the bytes from 128 on in a single-byte encoding; nil for an unknown one.
    package init(encoding: String?, characters: @escaping (_ encoding: String) -> [UInt32]?) {
        self.characters = characters
        parser = XML_ParserCreate(encoding)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in XMLStream.of(data).start(name, attributes) },
            { data, _ in XMLStream.of(data).end() }
        )
        XML_SetCharacterDataHandler(parser) { data, text, length in XMLStream.of(data).text(text, length) }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            let stream = XMLStream.of(data)
            stream.fail(Fault(line: stream.line, reason: XMLStream.hasDocumentType))
        }
        XML_SetUnknownEncodingHandler(
            parser,
            { data, name, information in
                guard let name, let information,
                    let upper = XMLStream.of(data).characters(String(cString: name).lowercased()), upper.count == 128
                else { return Int32(XML_STATUS_ERROR.rawValue) }
                withUnsafeMutablePointer(to: &information.pointee.map) { map in
                    map.withMemoryRebound(to: Int32.self, capacity: 256) { map in
                        for byte in 0..<128 {
                            map[byte] = Int32(byte)
                            map[128 + byte] = upper[byte] == 0xFFFD ? -1 : Int32(upper[byte])
                        }
                    }
                }
                information.pointee.data = nil
                information.pointee.convert = nil
                information.pointee.release = nil
                return Int32(XML_STATUS_OK.rawValue)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    deinit { XML_ParserFree(parser) }

    /// Reads a piece of the document.
    ///
    /// - Throws: `Fault` for a document that is not well-formed, or what `emit` throws. Nothing can be read afterwards.
    package func read(_ piece: UnsafeRawBufferPointer, isLast: Bool = false, _ emit: (Event) throws -> Void) throws {
        try withoutActuallyEscaping(emit) { emit in
            self.emit = emit
            defer { self.emit = nil }
            var rest = piece
            repeat {
                let step = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.stepSize))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(step.count))
                let bytes = step.bindMemory(to: CChar.self).baseAddress
                let status = XML_Parse(parser, bytes, Int32(step.count), isLast && rest.isEmpty ? 1 : 0)
                if let failure { throw failure }
                guard status == XML_STATUS_OK else {
                    let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "error"
                    throw Fault(line: line, reason: "is not well-formed XML: \(reason)")
                }
                byteCount += step.count
                guard byteCount - Int(XML_GetCurrentByteIndex(parser)) <= Self.tokenLimit + Self.stepSize else {
                    throw Fault(line: line, reason: "has a tag or a comment of more than \(Self.tokenLimit) bytes")
                }
            } while !rest.isEmpty
        }
    }

    // MARK: - Events

    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLStream {
        Unmanaged<XMLStream>.fromOpaque(data!).takeUnretainedValue()
    }

    private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    private func start(
        _ name: UnsafePointer<XML_Char>?,
        _ pairs: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        depth += 1
        guard depth <= Self.depthLimit else {
            return fail(Fault(line: line, reason: "has elements more than \(Self.depthLimit) levels deep"))
        }
        var attributes: [String: String] = [:]
        var index = 0
        while let name = pairs?[index], let value = pairs?[index + 1] {
            attributes[String(cString: name)] = String(cString: value)
            index += 2
        }
        send(.start(name: name.map { String(cString: $0) } ?? "", attributes: attributes, line: line))
    }

    private func end() {
        depth -= 1
        send(.end(line: line))
    }

    private func text(_ text: UnsafePointer<XML_Char>?, _ length: Int32) {
        guard let text, length > 0 else { return }
        text.withMemoryRebound(to: UInt8.self, capacity: Int(length)) { bytes in
            send(.text(UnsafeBufferPointer(start: bytes, count: Int(length))))
        }
    }

    private func send(_ event: Event) {
        guard failure == nil else { return }
        do { try emit?(event) } catch { fail(error) }
    }

    private func fail(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        XML_StopParser(parser, 0)
    }
}
