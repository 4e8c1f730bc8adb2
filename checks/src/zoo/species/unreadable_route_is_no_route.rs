//! Takes a route table that cannot be read for one without a default route.

use super::{About, Wrong};
use crate::route::Route;

pub(super) struct UnreadableRouteIsNoRoute;

impl Wrong for UnreadableRouteIsNoRoute {
    fn about(&self) -> About {
        About {
            name: "unreadable-route-is-no-route",
            models: "an error of one read that puts the management NIC into the scope",
            story: STORY,
        }
    }

    fn route(&self, route: Route) -> Route {
        match route {
            Route::Unread(_) => Route::Absent,
            read => read,
        }
    }
}

const STORY: &str = r#"
scenario: the route table cannot be read after a restart
why: the table can be read for twenty polls
platforms: { names: [ h100-oci ] }
let: { front: { default_route: true } }
timeline:
  - at: 20s
    do: [ { read: proc/net/route, fail: EIO }, { monitor: restart } ]
    expect: [ { nothing: null, from: 20s, to: 28s } ]
  - at: 28s
    do: [ { no_rule: everywhere } ]
until: 30s
"#;
