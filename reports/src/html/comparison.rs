//! A comparison of monitors as tables of the HTML report.

use maud::{Markup, html};

use crate::{Comparison, comparison_page::Table, counted};

pub(super) fn comparison(comparison: &Comparison) -> Markup {
    let table = Table::of_all(comparison);
    let drills = counted(comparison.drills.len() as u64, "drill");
    html! {
        header {
            p.of { "nicdrill · compare" }
            h1 { (counted(comparison.monitors.len() as u64, "monitor")) " in " (drills) }
            p { "Judged by needs of " code { (comparison.needs) } "; times are simulated: least/median/most." }
            @for monitor in &comparison.monitors {
                @if let Some(reason) = &monitor.not_played {
                    p.bad { b { (monitor.name) } " was not played: " (reason) }
                }
            }
        }
        @for (at, block) in table.blocks.iter().enumerate() {
            @let id = format!("block-{at}");
            section {
                h2 id=(id) { (block.title) }
                div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                    table.compared {
                        thead {
                            tr { th scope="col" { "Kind" } @for name in &table.names { th scope="col" { (name) } } }
                        }
                        tbody {
                            @for (word, cells) in &block.rows {
                                tr { th scope="row" { @if word.is_empty() { "all" } @else { (word) } } @for cell in cells { td { (cell) } } }
                            }
                        }
                    }
                }
            }
        }
        section {
            h2 { "Left out" }
            ul {
                @for monitor in &comparison.monitors {
                    @for (reason, count) in &monitor.left_out {
                        li { (monitor.name) " cannot play " (counted(*count, "scenario")) ": " (reason) }
                    }
                }
                @if comparison.monitors.iter().all(|it| it.left_out.is_empty()) { li { "Nothing: all of them can play all drills." } }
            }
            details {
                summary { "The " (drills) }
                ul.drills { @for drill in &comparison.drills { li { (drill) } } }
            }
        }
    }
}
