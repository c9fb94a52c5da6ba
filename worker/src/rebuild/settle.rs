//! Whether a difference stays: the unit is read, the fold catches up, and the unit is read
//! again. When it has not moved between, the fold has seen all that wrote it, and the
//! comparison counts. When it has, it is looked at once more.

use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};

use super::compare::Difference;
use super::kept::Unit;
use super::live::{self, Observed};
use super::replay::Replay;
use super::{Rebuild, RebuildError};

/// Units between two catch-ups at the first look: most of them stand still.
const FIRST: usize = 2_000;
/// At those that moved: so few that a busy one may stand still that long.
const CHUNK: usize = 100;
/// Reads at a time.
const AT_ONCE: usize = 16;
/// How often a unit that moves is looked at before it is said that it does.
const ROUNDS: u32 = 60;
/// Between two looks at what moves.
const PAUSE: Duration = Duration::from_millis(50);

/// A difference that stays.
#[derive(Debug, Clone)]
pub(super) struct Lasting {
    pub(super) unit: Unit,
    pub(super) live: Observed,
    pub(super) difference: Difference,
}

/// What became of the suspects.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) lasting: Vec<Lasting>,
    /// Never stood still.
    pub(super) moving: Vec<Unit>,
}

/// Looks at the suspects until each is known to differ or not to.
pub(super) async fn settle(
    rebuild: &Rebuild<'_>,
    replay: &mut Replay,
    suspects: Vec<Unit>,
) -> Result<Settled, RebuildError> {
    let mut settled = Settled::default();
    let mut open = suspects;
    for round in 0..ROUNDS {
        if open.is_empty() {
            break;
        }
        if round > 1 {
            tokio::time::sleep(PAUSE).await;
        }
        let mut moved = Vec::new();
        let chunk = if round == 0 { FIRST } else { CHUNK };
        for some in open.chunks(chunk) {
            let before = observe(rebuild, some).await?;
            replay.catch_up(rebuild).await?;
            let after = observe(rebuild, some).await?;
            for ((unit, before), live) in some.iter().zip(before).zip(after) {
                let Some(difference) = live::difference(unit, &live, &replay.fold)? else {
                    continue;
                };
                if before == live {
                    settled.lasting.push(Lasting {
                        unit: unit.clone(),
                        live,
                        difference,
                    });
                } else {
                    moved.push(unit.clone());
                }
            }
        }
        open = moved;
    }
    settled.moving = open;
    Ok(settled)
}

async fn observe(rebuild: &Rebuild<'_>, units: &[Unit]) -> Result<Vec<Observed>, RebuildError> {
    let reads = units
        .iter()
        .map(|unit| Observed::read(rebuild.stores, unit));
    let read = stream::iter(reads).buffered(AT_ONCE);
    Ok(read.try_collect().await?)
}
