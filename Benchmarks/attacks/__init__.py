"""The attacks of one hostile client: the worst that the protocol permits, one attack after the other.

Each attack is a function that takes an `Attacker` and goes on until its turn is over, even if the server refuses.
"""

from .attacker import SMALL, Attacker, Size
from .floods import command_floods, deck_floods, frame_floods, masses_of_members, signal_floods
from .memory import (
    dripped_requests, idle_connections, many_sessions, unread_answers, unread_compressed_snapshots, unread_rooms,
    unread_snapshots,
)
from .watching import count_watches, nearby_watches, rankings, trending_watches
from .work import (
    code_guessing, compressed_snapshots, event_pages, hidden_paths, listings, past_states, searches,
)

ATTACKS = [
    unread_snapshots, unread_compressed_snapshots, unread_answers, unread_rooms, dripped_requests, searches,
    event_pages, past_states, compressed_snapshots, listings, frame_floods, deck_floods, command_floods, signal_floods,
    code_guessing, masses_of_members, hidden_paths, rankings, trending_watches, nearby_watches, count_watches,
    idle_connections, many_sessions,
]
"""Every attack, in order. Sessions come last, since the address can make no session for a while afterwards."""

__all__ = ["ATTACKS", "SMALL", "Attacker", "Size"]
