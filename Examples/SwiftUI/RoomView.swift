#if canImport(SwiftUI)
    import RoomClient
    import SwiftUI

    /// A room: what is on air, what was asked for, and the pool to vote in.
    ///
    /// The room is followed for as long as the view is there. Rows look at their own track only, so a vote draws one row.
    public struct RoomView: View {
        @State private var room: Room
        @State private var problem: String?

        /// The view of one room.
        public init(_ client: RoomClient, _ reference: RoomReference) {
            _room = State(initialValue: client.room(reference))
        }

        /// What is shown.
        public var body: some View {
            List {
                Section(room.details?.name ?? "…") {
                    if let playback = room.playback, let track = room.track(playback.track) {
                        Text("\(playback.isPaused ? "‖" : "▶") \(track.info.title)")
                    } else {
                        Text("Nothing on air")
                    }
                    if case .offline = room.phase { Text("No connection") }
                    if let problem { Text(problem) }
                }
                Section("Asked for") { rows(room.requests) }
                Section("All songs") { rows(room.pool) }
            }
        }

        private func rows(_ tracks: [Track]) -> some View {
            ForEach(tracks) { track in
                TrackRow(track: track) {
                    do throws(ClientError) {
                        if track.isMine { try await room.unvote(track) } else { try await room.vote(for: track) }
                        problem = nil
                    } catch {
                        problem = error.message
                    }
                }
            }
        }
    }

    /// A song with its votes; a tap votes for it, or takes the vote back.
    struct TrackRow: View {
        let track: Track
        let toggle: () async -> Void

        var body: some View {
            Button("\(track.isMine ? "♥" : "♡") \(track.info.title) · \(track.votes)") {
                Task { await toggle() }
            }
        }
    }
#endif
