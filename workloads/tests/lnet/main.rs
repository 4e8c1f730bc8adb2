//! The facts about LNet Health, told through the public door only.

mod params;
