//! MPIB: two rails per node, islands by prefix, hints, ratio and split, outages.
