//! The order in which people list names with numbers. Start at [`natural`].

/// Sort key in natural order: `mlx5_9` before `mlx5_10`.
#[must_use]
pub fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (letters, after) = rest.split_at(text);
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (number, after) = after.split_at(digits);
        parts.push((letters.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_people_order_them() {
        let mut names = ["mlx5_10", "mlx5_9", "ibp3s0", "mlx5_1", "ibP16p3s0"];
        names.sort_by_key(|name| natural(name));
        assert_eq!(
            names,
            ["ibP16p3s0", "ibp3s0", "mlx5_1", "mlx5_9", "mlx5_10"]
        );
    }
}
