//! Conditions under which serde omits a member of the state file.

/// Whether to omit a member whose default is `false`.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// Whether to omit a member whose default is 0.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}
