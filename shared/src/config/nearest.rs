//! The known name that was probably meant.

/// How many typing errors apart two names may be and still be taken for each other: a
/// third of the name, and two in a short one.
fn tolerable(name: &str) -> usize {
    (name.len() / 3).max(2)
}

/// "did you mean …?", or all that is known when nothing is near.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let distance = |candidate: &&&str| strsim::damerau_levenshtein(name, candidate);
    match known.iter().min_by_key(distance) {
        Some(near) if distance(&near) <= tolerable(name) => format!("did you mean {near}?"),
        Some(_) => format!("known here: {}", known.join(", ")),
        None => "nothing is known here".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_answered_with_the_name_and_nonsense_with_all_names() {
        let known = ["lease_ms", "settle_ms", "concurrency"];
        assert_eq!(suggestion("lease_sm", known), "did you mean lease_ms?");
        assert_eq!(suggestion("concurency", known), "did you mean concurrency?");
        assert_eq!(
            suggestion("zzzzzzzz", known),
            "known here: lease_ms, settle_ms, concurrency"
        );
    }
}
