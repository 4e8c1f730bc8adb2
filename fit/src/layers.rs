//! Rows of two link layers as one. Start at [`both`].

use observe::promises::{Row, Says};

/// One row for two layers, InfiniBand first. What differs stands under the key of its layer.
pub(crate) fn both(infiniband: Row, ethernet: Row) -> Row {
    match (infiniband, ethernet) {
        (one, other) if one == other => one,
        (Row::Says(infiniband), Row::Says(ethernet)) => {
            Row::Says(Box::new(layered(*infiniband, *ethernet)))
        }
        (Row::Says(says), other) => Row::Says(Box::new(Says {
            ethernet: Some(other),
            ..*says
        })),
        (one, Row::Says(says)) => Row::Says(Box::new(Says {
            infiniband: Some(one),
            ..*says
        })),
        (one, _) => one,
    }
}

/// What both layers say: Ethernet over InfiniBand where that is possible. What Ethernet leaves to the documents must not be
/// taken from InfiniBand; then each has a row of its own.
fn layered(infiniband: Says, ethernet: Says) -> Says {
    let states = |says: &Says| {
        [
            says.verdict.is_some(),
            says.subject.is_some(),
            says.within.is_some(),
        ]
    };
    let mut stated = states(&infiniband).into_iter().zip(states(&ethernet));
    if stated.all(|(under, over)| over || !under) {
        let over = beyond(&infiniband, ethernet);
        return Says {
            ethernet: Some(Row::Says(Box::new(over))),
            ..infiniband
        };
    }
    let both = Says {
        ports: infiniband.ports,
        ..Says::default()
    };
    let own = |says: Says| Some(Row::Says(Box::new(beyond(&both, says))));
    let (infiniband, ethernet) = (own(infiniband), own(ethernet));
    Says {
        infiniband,
        ethernet,
        ..both
    }
}

/// What a row states beyond another one that it is over.
fn beyond(base: &Says, says: Says) -> Says {
    Says {
        verdict: says.verdict.filter(|_| says.verdict != base.verdict),
        subject: says.subject.filter(|_| says.subject != base.subject),
        after: says.after.filter(|_| says.after != base.after),
        within: says.within.filter(|_| says.within != base.within),
        clears: says.clears.filter(|_| says.clears != base.clears),
        ports: says.ports.filter(|_| says.ports != base.ports),
        ..says
    }
}

#[cfg(test)]
mod tests {
    use observe::promises::Lasting;
    use terms::Severity;

    use super::*;

    #[test]
    fn a_layer_takes_no_severity_from_the_other_one() {
        let by_case = Says {
            after: Some(Lasting::NOTHING),
            ..Says::default()
        };
        let mild = Says {
            verdict: Some(Severity::NonFatal),
            ..by_case.clone()
        };
        let fatal = Says {
            verdict: Some(Severity::Fatal),
            ..by_case.clone()
        };
        for ethernet in [by_case, fatal] {
            let row = both(
                Row::Says(Box::new(mild.clone())),
                Row::Says(Box::new(ethernet.clone())),
            );
            let verdict = |layer| match row.on(layer) {
                Row::Says(says) => says.verdict,
                Row::Silent | Row::Usual => None,
            };
            assert_eq!(verdict(terms::LinkLayer::InfiniBand), mild.verdict);
            assert_eq!(verdict(terms::LinkLayer::Ethernet), ethernet.verdict);
        }
    }
}
