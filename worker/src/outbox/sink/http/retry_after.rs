//! `Retry-After`: seconds or an HTTP date. Pure.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderValue;

/// A receiver that asks for more is asked again after this all the same: mistaken values
/// are common, and an hour is longer than a receiver needs to get its breath.
pub(super) const MAX_RETRY_AFTER: Duration = Duration::from_secs(3_600);

/// What the header asks for at `now` (unix seconds), capped; none when it can't be read. A
/// date that is over asks for nothing.
pub(crate) fn read(value: &HeaderValue, now: i64) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Digits that don't fit are more than the cap.
        text.parse().map_or(Duration::MAX, Duration::from_secs)
    } else {
        let date = httpdate::parse_http_date(text).ok()?;
        let date = date.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        let now = u64::try_from(now).unwrap_or(0);
        Duration::from_secs(date.saturating_sub(now))
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sun, 06 Nov 1994 08:49:37 GMT.
    const NOW: i64 = 784_111_777;

    #[test]
    fn both_forms_are_read_and_absurd_values_survive() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (text, expected) in [
            ("0", seconds(0)),
            ("120", seconds(120)),
            (" 7 ", seconds(7)),
            ("3600", seconds(3_600)),
            ("3601", Some(MAX_RETRY_AFTER)),
            ("99999999999999999999999999", Some(MAX_RETRY_AFTER)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", seconds(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", seconds(60)),
            ("Sun Nov  6 08:50:37 1994", seconds(60)),
            ("Sun, 06 Nov 1994 08:49:36 GMT", seconds(0)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", seconds(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(MAX_RETRY_AFTER)),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("+5", None),
            ("soon", None),
        ] {
            let value = HeaderValue::from_str(text).unwrap();
            assert_eq!(read(&value, NOW), expected, "{text:?}");
        }
        let bytes = HeaderValue::from_bytes(&[0xff, 0xfe]).unwrap();
        assert_eq!(read(&bytes, NOW), None);
    }

    #[test]
    fn a_clock_before_1970_asks_for_no_more_than_the_cap() {
        let value = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(read(&value, i64::MIN), Some(MAX_RETRY_AFTER));
    }
}
