import RoomClient

print(ServerAddress("https://party.example")?.authority ?? "no address")
