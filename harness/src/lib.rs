//! arms, lockstep, mock connector, judge, run folder.
