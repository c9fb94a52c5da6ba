//! What a process costs, from `/proc`.

use anyhow::{Context, Result};

/// Resident memory of a process in MiB: now, and at its highest.
pub(super) fn resident(pid: u32) -> Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        let number = number.with_context(|| format!("no {name}"))?;
        Ok::<f64, anyhow::Error>(number.parse::<f64>()? / 1_024.0)
    };
    Ok((kib("VmRSS:")?, kib("VmHWM:")?))
}
