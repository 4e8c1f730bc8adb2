//! Which members of the state file are left out.

/// Is a member left out that is `false` where it is not there?
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// Is a member left out that is 0 where it is not there?
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference to the member"
)]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}
