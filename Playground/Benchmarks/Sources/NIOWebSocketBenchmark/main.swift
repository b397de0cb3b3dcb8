import Foundation
import HTTPCases
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

// The echo and the idle connections of Reference/websocket.c, with swift-nio on one event loop.

let arguments = WebSocketArguments()
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
let before = try residentKiB()

/// Counts the messages of all connections; used on the event loop only.
final class Counter: @unchecked Sendable {
    var sent = 0
    var received = 0
    let done = DispatchSemaphore(value: 0)
}

let counter = Counter()
let total = arguments.echo?.messages ?? 0
let size = arguments.echo?.size ?? 0

final class Echo: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let payload: ByteBuffer

    init(_ allocator: ByteBufferAllocator) {
        var payload = allocator.buffer(capacity: size)
        payload.writeRepeatingByte(UInt8(ascii: "x"), count: size)
        self.payload = payload
    }

    func sendNext(_ context: ChannelHandlerContext) {
        guard counter.sent < total else { return }
        counter.sent += 1
        let frame = WebSocketFrame(fin: true, opcode: .binary, maskKey: .random(), data: payload)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        precondition(unwrapInboundIn(data).data.readableBytes == size)
        counter.received += 1
        if counter.received == total { counter.done.signal() }
        sendNext(context)
    }
}

/// Connects and returns the channel after the upgrade.
func connect() throws -> any Channel {
    let upgraded = group.next().makePromise(of: (any Channel).self)
    let upgrader = NIOWebSocketClientUpgrader(
        requestKey: NIOWebSocketClientUpgrader.randomRequestKey(), maxFrameSize: 1 << 24
    ) { channel, _ in
        channel.pipeline.addHandler(Echo(channel.allocator)).map { upgraded.succeed(channel) }
    }
    let bootstrap = ClientBootstrap(group: group)
        .channelOption(.socketOption(.init(rawValue: TCP_NODELAY)), value: 1)
        .channelInitializer { channel in
            channel.pipeline.addHTTPClientHandlers(
                withClientUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
        }
    let channel = try bootstrap.connect(host: "127.0.0.1", port: arguments.port).wait()
    let head = HTTPRequestHead(
        version: .http1_1, method: .GET, uri: "/", headers: ["Host": "127.0.0.1:\(arguments.port)"])
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    return try upgraded.futureResult.wait()
}

let channels = try (0..<arguments.connections).map { _ in try connect() }
if arguments.echo == nil {
    usleep(200_000)
    print("{\"connections\":\(arguments.connections),\"kib\":\(try residentKiB() - before)}")
    exit(0)
}
let start = Date()
let cpu = Usage().cpuSeconds
for channel in channels {
    channel.pipeline.context(handlerType: Echo.self).whenSuccess { context in
        (context.handler as? Echo)?.sendNext(context)
    }
}
counter.done.wait()
printEcho(messages: total, seconds: -start.timeIntervalSinceNow, cpu: Usage().cpuSeconds - cpu)
exit(0)
