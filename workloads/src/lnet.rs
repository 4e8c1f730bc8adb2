//! LNet Health: network interfaces, peers, health values, resends and recovery.
