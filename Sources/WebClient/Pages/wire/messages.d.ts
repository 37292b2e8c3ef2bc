// The messages and states of Protocol.md, sections 2 to 5, 7 and 8. Absent and null mean the same.

export type Role = 'owner' | 'dj' | 'guest';
export type Location = { lat: number; lon: number };

export type Settings = {
  queueMode: 'dj' | 'votes' | 'fair';
  skipRatio: number;
  maxWaitingPerMember: number;
  repeatAfterPlays: number;
  guestsMayAdd?: boolean;
  queueLocked?: boolean;
  slowModeMs?: number;
  ownerAwayMs?: number;
  countedAcrossRooms?: boolean;
};

export type Member = { member: number; name: string; role: Role; joinedAt: number };

export type TrackInfo = {
  source: string;
  sourceId: string;
  title: string;
  artist?: string;
  album?: string;
  durationMs?: number;
  artworkUrl?: string;
};

export type Track = TrackInfo & {
  track: number;
  addedBy?: number;
  votes: number;
  requestedSeq?: number;
  waveform?: string;
  missing?: true;
};

export type QueueEntry = { entry: number; track: number; addedBy?: number };

export type OnAir = {
  status: 'playing' | 'paused';
  entry: number;
  track: number;
  startedBy?: number;
  startedAt: number;
  startedSeq: number;
  positionMs: number;
  atMs: number;
  skipVotes: number;
  skipVoters?: number[];
};

export type Playback = { status: 'stopped' } | OnAir;

export type HistoryEntry = {
  entry: number;
  track: number;
  title: string;
  artist?: string;
  startedAt: number;
  endedAt: number;
  reason: 'ended' | 'skipped' | 'replaced';
  playedMs: number;
};

export type State = {
  id: string;
  code: string;
  name: string;
  createdAt: number;
  closedAt?: number;
  visibility: 'public' | 'unlisted';
  location?: Location;
  settings: Settings;
  members: Member[];
  pool: Track[];
  requests: number[];
  queue: QueueEntry[];
  playback: Playback;
  history: HistoryEntry[];
};

export type YouMessage = { member: number; role: Role; votes: number[] };

/** What a snapshot and a resumption carry beside the log. */
export type Beside = {
  you?: YouMessage;
  presence?: { online: number; members?: number[] };
  keyed?: number;
  deck?: number;
  here?: boolean;
};

/** `isAhead`: of a room that was saved here while the deck went its own way. */
export type RoomSnapshot = Beside & { epoch: string; seq: number; time?: number; state: State; isAhead?: boolean };
export type Snapshot = RoomSnapshot & {
  type: 'snapshot';
  re?: number;
  room: string;
  collapsed?: { from: number; seq: number };
};
export type Resumed = Beside & { type: 'resumed'; re?: number; room: string; epoch: string; seq: number };
export type Delta = { type: 'delta'; room: string; from: number; seq: number; events: RoomEvent[] };

// Events

export type Why = { rule: 'votes' | 'fair' | 'repeatAfterPlays'; rank: number[]; turnOf?: number };
type E<Type extends string, Fields> = { seq: number; at: number; type: Type } & Fields;
type Count = { track: number; votes: number; requestedSeq?: number };

export type MemberLeft = E<'memberLeft', {
  member: number;
  reason: 'left' | 'expired' | 'kicked' | 'banned' | 'session_ended';
  by?: number;
  note?: string;
  votes?: Count[];
  skipVotes?: number;
}>;
export type TracksAdded = E<'tracksAdded', { tracks: (TrackInfo & { track: number })[]; by?: number }>;
export type Jump = E<'playbackPaused' | 'playbackResumed' | 'playbackSeeked', {
  positionMs: number;
  atMs: number;
  playedMs?: number;
  by?: number;
}>;
export type EntryFinished = E<'entryFinished', {
  entry: number;
  track: number;
  reason: 'ended' | 'skipped' | 'replaced';
  startedAt: number;
  playedMs: number;
  endedAt?: number;
  missing?: true;
  by?: number;
}>;

export type RoomEvent =
  | E<'roomCreated', {
    id: string; code: string; name: string; location?: Location; visibility: State['visibility']; settings: Settings;
  }>
  | E<'memberJoined', { member: number; name: string; role: Role }>
  | MemberLeft
  | E<'memberRenamed', { member: number; name: string }>
  | E<'memberBanned', { member: number; by?: number; role?: 'dj'; until?: number; reason?: string }>
  | E<'memberUnbanned', { member: number; by?: number; reason?: string }>
  | E<'roleChanged', { member: number; role: Role; by?: number; reason?: string }>
  | E<'roomUpdated', {
    name?: string; location?: Location; locationCleared?: true; visibility?: State['visibility']; settings?: Settings;
    by?: number; reason?: string;
  }>
  | E<'roomClosed', { forget?: boolean; by?: number; reason?: string }>
  | TracksAdded
  | E<'tracksRemoved', { tracks: number[]; by?: number }>
  | E<'waveformSet', { track: number; waveform: string; by?: number }>
  | E<'durationSet', { track: number; durationMs: number; by?: number }>
  | E<'missingSet', { tracks: number[]; by?: number }>
  | E<'voteCast', { track: number; by: number; votes: number; requestedSeq?: number }>
  | E<'voteWithdrawn', { track: number; by: number; votes: number; requestedSeq?: number }>
  | E<'votesCleared', { track: number }>
  | E<'entryEnqueued', { entry: number; track: number; index: number; by?: number; why?: Why }>
  | E<'entryRemoved', { entry: number; by?: number; why?: Why }>
  | E<'entryMoved', { entry: number; index: number; by?: number }>
  | E<'playbackStarted', {
    entry: number; track: number; startedAt?: number; positionMs: number; atMs: number; playedMs?: number; by?: number;
  }>
  | Jump
  | E<'playbackStopped', { by?: number }>
  | E<'skipVoteCast' | 'skipVoteWithdrawn', { entry: number; by: number; skipVotes: number }>
  | EntryFinished;

// Commands: the fields of Protocol.md, section 5, which the server checks.

export type Command = { type: string; [field: string]: unknown };

// Messages of a socket

export type RoomSummary = {
  id: string;
  code: string;
  name: string;
  location?: Location;
  listeners: number;
  djName?: string;
  nowPlaying?: { title: string; artist?: string };
  createdAt: number;
  role?: Role;
};
export type NearbyRoom = RoomSummary & { distanceMeters: number };

// Statistics

/** A count of 0 is left out. */
export type Bucket = {
  at: number; starts?: number; plays?: number; skips?: number; playedMs?: number; votes?: number; unvotes?: number;
  requests?: number; joins?: number; leaves?: number; tracksAdded?: number;
};
export type Observed = { at: number; peakListeners: number; listenedMs: number };
export type CountsAnswer = {
  epoch: string; seq: number; step: 'minute' | 'quarter' | 'day'; from: number; to: number; buckets: Bucket[];
  observed: Observed[];
};
export type TopTrack = {
  track: number; title: string; artist?: string; addedBy?: number; plays: number; skips: number; playedMs: number;
};
export type Play = {
  entry: number; track: number; title: string; artist?: string; addedBy?: number; startedAt: number; endedAt: number;
  reason: HistoryEntry['reason']; playedMs: number; isPlay: boolean;
};
type Told = { epoch: string; seq: number; minutes: Bucket[]; today: Bucket };
export type CountsMessage =
  | ({ type: 'statistics'; re: number; room: string; whole?: undefined } & Told)
  | ({ type: 'statisticsDelta'; sub: number; whole?: true } & Told);
export type Trend = { title: string; artist?: string; plays: number; rooms: number };
type Trends = { window: string; from: number; to: number; minimumRooms: number; tracks: Trend[] };

export type ServerMessage =
  | {
    type: 'welcome'; session: { id: string; name: string }; server: { version: string; node: string }; beatMs: number;
    time: number;
  }
  | Snapshot
  | Resumed
  | Delta
  | { type: 'presence'; room: string; online: number; on?: number[]; off?: number[] }
  | { type: 'deck'; room: string; member?: number; here?: boolean }
  | { type: 'reaction'; room: string; from: number; emoji: string }
  | { type: 'signal'; room: string; from: number; data: unknown }
  | { type: 'ok'; re?: number }
  | { type: 'ack'; re?: number; seq: number; result?: any; keyed?: number }
  | { type: 'error'; re?: number; code: string; message: string; retryAfterMs?: number; reason?: string }
  | { type: 'ended'; room: string; code: string }
  | { type: 'nearby'; re: number; rooms: NearbyRoom[] }
  | { type: 'nearbyDelta'; sub: number; entered: NearbyRoom[]; changed: NearbyRoom[]; left: string[] }
  | CountsMessage
  | { type: 'statisticsEnd'; sub: number; code: string }
  | ({ type: 'trending'; re: number } & Trends)
  | ({ type: 'trendingDelta'; sub: number } & Trends)
  | { type: 'time'; re?: number; t1: number; t2: number; t3: number }
  | { type: 'goaway'; reason: string; reconnectInMs: number }
  | { type: 'beat'; time: number; rooms: Record<string, number> };
