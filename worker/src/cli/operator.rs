//! Who runs a command, for the audit log. What the environment says is taken as it is: who
//! may run commands here can write to the database anyway.

use hookledger_shared::config::Environment;
use hookledger_shared::store::Operator;

/// Where Linux says what the machine is called.
const HOSTNAME_FILE: &str = "/proc/sys/kernel/hostname";

/// The system's user and host.
pub(super) fn read(environment: &Environment) -> Operator {
    let first = |names: [&str; 2]| {
        let values = names.into_iter().filter_map(|name| environment.text(name));
        let mut values = values.filter(|value| !value.is_empty());
        values.next().map(str::to_owned)
    };
    let unknown = || "unknown".to_owned();
    Operator {
        who: first(["USER", "LOGNAME"]).unwrap_or_else(unknown),
        from: hostname()
            .or_else(|| first(["HOSTNAME", "HOST"]))
            .unwrap_or_else(unknown),
    }
}

fn hostname() -> Option<String> {
    let name = std::fs::read_to_string(HOSTNAME_FILE).ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_named_and_never_guessed() {
        let who =
            |pairs: &[(&str, &str)]| read(&Environment::from_pairs(pairs.iter().copied())).who;
        assert_eq!(who(&[("USER", "ada"), ("LOGNAME", "root")]), "ada");
        assert_eq!(who(&[("USER", ""), ("LOGNAME", "ada")]), "ada");
        assert_eq!(who(&[]), "unknown");
    }
}
