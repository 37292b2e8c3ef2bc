import NIOCore

/// Splits what a program writes into lines.
///
/// Confined to the stage's event loop.
final class ProgramLines: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// A state is a room of 10,000 tracks at most, twice.
    private static let longestLine = 8 * 1024 * 1024
    /// What a program may write in one conversation.
    private static let mostBytes = 256 * 1024 * 1024

    private let stage: Stage
    /// What belongs to a line whose end has not come.
    private var rest: [UInt8] = []
    private var count = 0

    init(_ stage: Stage) { self.stage = stage }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        count += bytes.readableBytes
        let chunk = Array(buffer: bytes)
        var begin = 0
        for index in chunk.indices where chunk[index] == UInt8(ascii: "\n") {
            let line = rest + chunk[begin..<index]
            (rest, begin) = ([], index + 1)
            if !line.isEmpty { stage.answered(line) }
        }
        rest += chunk[begin...]
        if rest.count > Self.longestLine { stage.fail("the program writes a line without an end") }
        if count > Self.mostBytes { stage.fail("the program writes too much") }
    }

    func channelInactive(context: ChannelHandlerContext) { stage.programEnded() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { stage.programEnded() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Keeps the end of what a program writes to its standard error.
///
/// Confined to the stage's event loop.
final class ProgramErrors: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private static let kept = 8_192

    private let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stage.errors += Array(unwrapInboundIn(data).readableBytesView.suffix(Self.kept))
        stage.errors = stage.errors.suffix(Self.kept)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
