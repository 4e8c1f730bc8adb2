//! The values that replace a descriptor's `{...}`.

/// The values of one start of a monitor.
#[derive(Clone, Debug, Default)]
pub struct Filling<'a> {
    /// `{self}`: this program.
    pub this: &'a str,
    /// `{root}`: the mount root; empty in memory.
    pub root: &'a str,
    /// `{state_file}`: path of the reference monitor's state file.
    pub state_file: &'a str,
    /// `{socket}`: path of the connector's socket.
    pub socket: &'a str,
    /// `{config}`: path of the configuration file.
    pub config: &'a str,
    /// `{node}`: the node's name.
    pub node: &'a str,
    /// `{metrics_port}`.
    pub metrics_port: u16,
    /// `{checks}`: the names of the checks that run.
    pub checks: &'a [&'a str],
}

impl Filling<'_> {
    /// The text with everything replaced.
    #[must_use]
    pub fn fill(&self, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        text.replace("{self}", self.this)
            .replace("{state_file}", self.state_file)
            .replace("{root}", self.root)
            .replace("{socket}", self.socket)
            .replace("{config}", self.config)
            .replace("{node}", self.node)
            .replace("{metrics_port}", &self.metrics_port.to_string())
            .replace("{checks}", &self.checks.join(","))
    }
}
