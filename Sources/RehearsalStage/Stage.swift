package import NIOCore
import NIOPosix
package import Rehearsal
package import SystemCalls

/// Holds one conversation with a program: the server on a port of its own, and the program with its standard streams.
///
/// Everything happens on one event loop. Whatever the program does, it ends, and the program with it.
package final class Stage {
    /// The most connections and requests of a client in one conversation: one that asks for more is in a loop.
    private static let mostConnections = 200
    /// The most messages of a client in one conversation.
    private static let mostMessages = 10_000
    /// The time for the program to end after its standard input has.
    private static let endMs: Int64 = 1_000

    private let settings: StageSettings
    private let loop: any EventLoop
    private let promise: EventLoopPromise<StageReport>
    private let began = NIODeadline.now()
    private var player: Player
    private var connections: [Int: StageConnection] = [:]
    private var lastConnection = 0
    private var messages = 0
    private var listener: (any Channel)?
    private var program: ChildProgram?
    private var pipe: (any Channel)?
    private var wake: Scheduled<Void>?
    private var deadline: Scheduled<Void>?
    private var isEnding = false
    /// The end of the program's standard error.
    var errors: [UInt8] = []

    /// Holds a conversation on an event loop, and reports.
    ///
    /// The future fails only where the port or the program cannot be had.
    package static func perform(
        _ conversation: Conversation, _ settings: StageSettings, on loop: any EventLoop
    ) -> EventLoopFuture<StageReport> {
        let promise = loop.makePromise(of: StageReport.self)
        loop.execute {
            let stage = Stage(conversation, settings, loop, promise)
            stage.open()
        }
        return promise.futureResult
    }

    private init(
        _ conversation: Conversation, _ settings: StageSettings, _ loop: any EventLoop,
        _ promise: EventLoopPromise<StageReport>
    ) {
        (self.settings, self.loop, self.promise) = (settings, loop, promise)
        player = Player(conversation, address: "", token: "", patienceMs: settings.patienceMs)
    }

    private var now: Int64 { (NIODeadline.now() - began).nanoseconds / 1_000_000 }

    // MARK: Beginning

    private func open() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        ServerBootstrap(group: loop, childGroup: loop)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let stage = bound.value
                    stage.lastConnection += 1
                    let connection = StageConnection(stage.lastConnection, stage)
                    stage.connections[connection.number] = connection
                    try channel.pipeline.syncOperations.addHandler(connection)
                    if stage.lastConnection > Self.mostConnections { stage.fail("the client connects again and again") }
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .whenComplete { result in
                switch result {
                case .success(let channel): bound.value.listening(channel)
                case .failure(let error): bound.value.promise.fail(error)
                }
            }
    }

    private func listening(_ channel: any Channel) {
        listener = channel
        do throws(SystemError) {
            program = try ChildProgram(settings.program)
        } catch {
            channel.close(promise: nil)
            return promise.fail(StageFault(program: settings.program[0], cause: error))
        }
        let address = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
        // A token that the session of no other conversation has.
        let token = "bls_" + String((0..<43).map { _ in Self.letters[Int.random(in: Self.letters.indices)] })
        player = Player(player.conversation, address: address, token: token, patienceMs: settings.patienceMs)
        let bound = NIOLoopBound(self, eventLoop: loop)
        deadline = loop.scheduleTask(in: .milliseconds(settings.timeoutMs)) {
            bound.value.fail("the conversation takes more than \(bound.value.settings.timeoutMs) ms")
        }
        join()
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    private func join() {
        guard let program else { return }
        let bound = NIOLoopBound(self, eventLoop: loop)
        NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProgramErrors(bound.value))
                }
            }
            .takingOwnershipOfDescriptor(input: program.errors)
            .whenFailure { bound.value.promise.fail($0) }
        NIOPipeBootstrap(group: loop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProgramLines(bound.value))
                }
            }
            .takingOwnershipOfDescriptors(input: program.output, output: program.input)
            .whenComplete { result in
                switch result {
                case .failure(let error): bound.value.promise.fail(error)
                case .success(let channel):
                    let stage = bound.value
                    stage.pipe = channel
                    stage.take(stage.player.started(at: stage.now))
                }
            }
    }

    // MARK: What happens

    func opening(_ connection: Int, path: String, token: String?) {
        take(player.opening(connection, path: path, token: token, at: now))
    }

    func requested(_ connection: Int, method: String, path: String) {
        take(player.requested(connection, method: method, path: path, at: now))
    }

    func received(_ connection: Int, _ bytes: [UInt8]) {
        messages += 1
        take(player.received(bytes, on: connection, at: now))
        if messages > Self.mostMessages { fail("the client sends without an end") }
    }

    func closed(_ connection: Int, _ code: UInt16?) {
        connections[connection] = nil
        take(player.closed(connection, code: code, at: now))
    }

    func answered(_ line: [UInt8]) { take(player.answered(line, at: now)) }

    /// The program has closed its standard output; `tries`: the looks that remain at how it has ended.
    func programEnded(tries: Int = 100) {
        guard !isEnding, !player.isOver else { return }
        guard program?.hasEnded() == false, tries > 0 else {
            return take(player.programEnded(program?.ending ?? "it is gone", at: now))
        }
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: .milliseconds(5)) { bound.value.programEnded(tries: tries - 1) }
    }

    func fail(_ message: String) { take(player.gaveUp(message, at: now)) }

    private func take(_ steps: [PlayerStep]) {
        for step in steps {
            switch step {
            case .accept(let connection): connections[connection]?.accept()
            case .refuse(let connection, let status, let body), .respond(let connection, let status, let body):
                connections[connection]?.respond(status, body)
            case .send(let connection, let bytes): connections[connection]?.send(bytes, isCut: settings.isCut)
            case .close(let connection, let code): connections[connection]?.close(code)
            case .drop(let connection): connections[connection]?.drop()
            case .mute(let connection): connections[connection]?.mute()
            case .tell(let line):
                pipe?.writeAndFlush(ByteBuffer(bytes: line + [UInt8(ascii: "\n")]), promise: nil)
            case .wake(let at): wakeUp(at: at)
            case .finished(let result): end(result)
            }
        }
    }

    private func wakeUp(at time: Int64) {
        wake?.cancel()
        let bound = NIOLoopBound(self, eventLoop: loop)
        wake = loop.scheduleTask(in: .milliseconds(max(0, time - now))) {
            let stage = bound.value
            // A clock in whole milliseconds may be a little behind.
            guard stage.now >= time else { return stage.wakeUp(at: time) }
            stage.take(stage.player.woken(at: stage.now))
        }
    }

    // MARK: The end

    private func end(_ result: PlayerResult) {
        guard !isEnding else { return }
        isEnding = true
        let took = now
        wake?.cancel()
        deadline?.cancel()
        // A client need not hear of it: the program ends with its standard input.
        pipe?.close(mode: .output, promise: nil)
        wait(until: now + Self.endMs) { stage in
            stage.listener?.close(promise: nil)
            for connection in stage.connections.values { connection.drop() }
            stage.pipe?.close(promise: nil)
            stage.promise.succeed(
                StageReport(
                    conversation: stage.player.conversation, result: result, transcript: stage.player.transcript,
                    errors: String(decoding: stage.errors, as: UTF8.self), milliseconds: took))
        }
    }

    /// Waits for the program's end, and brings it about at a time.
    private func wait(until end: Int64, _ then: @escaping (Stage) -> Void) {
        if now >= end { program?.kill() }
        guard program?.hasEnded() == false else { return then(self) }
        let bound = NIOLoopBound((self, then), eventLoop: loop)
        loop.scheduleTask(in: .milliseconds(5)) {
            let (stage, then) = bound.value
            stage.wait(until: end, then)
        }
    }
}

/// A program that cannot be started.
package struct StageFault: Error, CustomStringConvertible {
    package let program: String
    package let cause: SystemError

    package var description: String { "\(program) cannot be started: \(cause)" }
}
