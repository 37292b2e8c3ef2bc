"""What one hostile client does: the worst that it can by legal means, one attack after the other.

Each attack is a function that takes an `Attacker` and goes on until its turn is over, however much is refused.
"""

from .attacker import SMALL, Attacker, Size
from .floods import command_floods, deck_floods, frame_floods, masses_of_members, signal_floods
from .memory import (
    dripped_requests, idle_connections, many_sessions, unread_answers, unread_compressed_snapshots, unread_rooms,
    unread_snapshots,
)
from .work import (
    code_guessing, compressed_snapshots, event_pages, hidden_paths, listings, past_states, searches,
)

ATTACKS = [
    unread_snapshots, unread_compressed_snapshots, unread_answers, unread_rooms, dripped_requests, searches,
    event_pages, past_states, compressed_snapshots, listings, frame_floods, deck_floods, command_floods, signal_floods,
    code_guessing, masses_of_members, hidden_paths, idle_connections, many_sessions,
]
"""Every attack, in the order in which they are made. Sessions come last: nobody can make one for a while after."""

__all__ = ["ATTACKS", "SMALL", "Attacker", "Size"]
