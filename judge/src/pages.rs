//! Pages that a monitor which is asked for them did not give. What it owed then is judged, and findings name them.
//! Start at [`Judging::failed_pages`].

use platforms::NodeName;

use crate::Judging;

impl Judging<'_> {
    /// The pages that could not be had from a tick until another one, as a line; `None` if there are none.
    pub(crate) fn failed_pages(&self, node: &NodeName, from: u64, until: u64) -> Option<String> {
        let pages = self.pages(node, from, until);
        let mut failed = pages.filter_map(|(at, failure)| Some((at, failure?)));
        let (first, why) = failed.next()?;
        let (more, last) = failed.fold((0, first), |(more, _), (at, _)| (more + 1, at));
        let further = match more {
            0 => String::new(),
            more => format!(" (and {more} more until poll {last})"),
        };
        Some(format!("no page in poll {first}: {why}{further}"))
    }

    /// Whether every page failed from a tick until another one, and there was one.
    pub(crate) fn has_no_page(&self, node: &NodeName, from: u64, until: u64) -> bool {
        let mut pages = self.pages(node, from, until).peekable();
        pages.peek().is_some() && pages.all(|(_, failure)| failure.is_some())
    }

    /// The pages from a tick until another one: the tick in which each ended, and why it failed.
    fn pages(
        &self,
        node: &NodeName,
        from: u64,
        until: u64,
    ) -> impl Iterator<Item = (u64, Option<String>)> {
        let ticks = (0..).zip(&self.recording.ticks);
        let ticks = ticks.filter(move |(at, _)| (from..=until).contains(at));
        let own = ticks.filter_map(move |(at, tick)| Some((at, tick.monitors.get(node.as_str())?)));
        own.flat_map(|(at, monitor)| {
            let scrapes = monitor.scrapes.iter();
            scrapes.map(move |scrape| (at, scrape.failure()))
        })
    }
}
