import CoreMetrics
import EventStorage

/// The metrics of the other servers, and of the bus that connects them.
final class BusMetrics: Sendable {
    /// The help texts of the metrics, by name.
    static let help = [
        "backline_other_servers": "Other servers from which beats arrive.",
        "backline_other_servers_lost_total": "Times that another server sent nothing for the time of its lease.",
        "backline_bus_messages_sent_total": "Messages to other servers that the bus between servers took.",
        "backline_bus_sent_bytes_total": "Bytes of messages to other servers that the bus took.",
        "backline_bus_notices_received_total": "Notices from other servers that arrived over the bus.",
        "backline_bus_received_bytes_total": "Bytes of messages from other servers that arrived over the bus.",
        "backline_bus_notices_lost_total": "Notices to other servers that the bus did not take.",
        "backline_bus_connections_total": "Times that the bus between servers was connected.",
        "backline_bus_connected": "Whether the bus between servers is connected: 1 or 0.",
    ]

    private let otherServers: Gauge
    private let otherServersLost: Counter
    private let messagesSent: Counter
    private let bytesSent: Counter
    private let receivedNotices: Counter
    private let bytesReceived: Counter
    private let lostNotices: Counter
    private let connections: Counter
    private let connected: Gauge

    init(factory: any MetricsFactory) {
        func counter(_ name: String) -> Counter { Counter(label: name, factory: factory) }
        otherServers = Gauge(label: "backline_other_servers", factory: factory)
        otherServersLost = counter("backline_other_servers_lost_total")
        messagesSent = counter("backline_bus_messages_sent_total")
        bytesSent = counter("backline_bus_sent_bytes_total")
        receivedNotices = counter("backline_bus_notices_received_total")
        bytesReceived = counter("backline_bus_received_bytes_total")
        lostNotices = counter("backline_bus_notices_lost_total")
        connections = counter("backline_bus_connections_total")
        connected = Gauge(label: "backline_bus_connected", factory: factory)
    }

    /// Records the number of other servers from which notices arrive, and how many were lost since the last call.
    func otherServers(_ count: Int, lost: Int) {
        otherServers.record(count)
        if lost > 0 { otherServersLost.increment(by: lost) }
    }

    /// Records that the bus took messages to other servers.
    func noticesSent(_ messages: [NodeMessage]) {
        messagesSent.increment(by: messages.count)
        bytesSent.increment(by: messages.reduce(0) { $0 + $1.payload.count })
    }

    /// Records that another server's message arrived.
    func noticesReceived(_ notices: Int, bytes: Int) {
        receivedNotices.increment(by: notices)
        bytesReceived.increment(by: bytes)
    }

    /// Records that notices to other servers could not be sent.
    func noticesLost(_ notices: Int) {
        lostNotices.increment(by: notices)
    }

    /// Records that the bus was connected, or lost its connection.
    func changed(isConnected: Bool) {
        connected.record(isConnected ? 1 : 0)
        if isConnected { connections.increment() }
    }
}
