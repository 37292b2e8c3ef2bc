import RoomClient
import RoomClientNIO

let transport: any ClientTransport = try NIOTransport(trust: .system)
print(type(of: transport))
