//! Administrative commands on a running node: parameters, health, priorities, fault rules.

use platforms::NodeName;

use super::{
    error::LnetError,
    health::Health,
    network::Lnet,
    ni::whole_secs,
    nid::Nid,
    params::Param,
    rule::{FaultRule, Rule},
    workload_event::{Cause, Side},
};

impl Lnet {
    /// `lnetctl set`.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`], [`LnetError::Param`].
    pub fn set(&mut self, node: &NodeName, param: Param, value: i64) -> Result<(), LnetError> {
        let node = self.loaded(node)?;
        node.params.set(param, value)?;
        if node.params.sensitivity() == 0 {
            node.empty_queues();
        }
        Ok(())
    }

    /// `lnetctl net set --health` or `lnetctl peer set --health`.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`], [`LnetError::NoNi`], [`LnetError::NoHealth`].
    pub fn set_health(
        &mut self,
        node: &NodeName,
        side: Side,
        nid: &Nid,
        value: u16,
    ) -> Result<(), LnetError> {
        if value > Health::MAX.value() {
            return Err(LnetError::NoHealth(value));
        }
        self.loaded(node)?;
        let held = self
            .nodes
            .get_mut(node)
            .ok_or_else(|| LnetError::NoNode(node.clone()))?;
        let known = match side {
            Side::Local => held.is_own(nid),
            Side::Peer => held.peer_ni(nid).is_some(),
        };
        if !known {
            return Err(LnetError::NoNi {
                node: node.clone(),
                nid: nid.clone(),
            });
        }
        let now_s = whole_secs(self.log.now);
        match side {
            Side::Local => {
                held.set_local(nid, Health::new(value), Cause::Set, &mut self.log);
                held.queue_local(nid, now_s);
            }
            Side::Peer => {
                held.set_peer(nid, Health::new(value), Cause::Set, &mut self.log);
                held.queue_peer(nid, now_s);
            }
        }
        Ok(())
    }

    /// `lnetctl net set --priority` or `lnetctl peer set --priority`; a lower value is preferred.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`], [`LnetError::NoNi`].
    pub fn set_priority(
        &mut self,
        node: &NodeName,
        nid: &Nid,
        priority: u32,
    ) -> Result<(), LnetError> {
        let held = self.loaded(node)?;
        if let Some(ni) = held.ni_mut(nid) {
            ni.spec.priority = priority;
        } else if let Some(ni) = held.peer_ni_mut(nid) {
            ni.priority = priority;
        } else {
            return Err(LnetError::NoNi {
                node: node.clone(),
                nid: nid.clone(),
            });
        }
        Ok(())
    }

    /// `lnetctl fault drop add` or `lnetctl fault delay add`.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`], [`LnetError::Rule`].
    pub fn add_rule(&mut self, node: &NodeName, spec: FaultRule) -> Result<(), LnetError> {
        self.planned += 1;
        let seed = self.seed ^ self.planned;
        let rule = Rule::new(spec, seed, self.log.now)?;
        self.loaded(node)?.rules.push(rule);
        Ok(())
    }

    /// `lnetctl fault drop del -a` and `lnetctl fault delay del -a`.
    ///
    /// # Errors
    /// [`LnetError::NoNode`], [`LnetError::NotLoaded`].
    pub fn clear_rules(&mut self, node: &NodeName) -> Result<(), LnetError> {
        self.loaded(node)?.rules.clear();
        Ok(())
    }
}
