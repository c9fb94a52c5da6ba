//! Any order, same end, of random lives on the real programs: shuffled, doubled, by eight
//! processors that are killed at random points. `cargo dev lives` is the long run of this.

use hookledger_dev::mongo::shared;
use hookledger_dev::stripe::life::ordinary;
use hookledger_dev::{environment, lives};

/// As many as fit into a minute. `HOOKLEDGER_LIFE_ROUNDS` says otherwise.
const SAMPLE: usize = 80;
/// Of the first one, when nobody says otherwise.
const SEED: u64 = 1;

#[tokio::test(flavor = "multi_thread")]
async fn random_lives_with_kills_end_as_what_is_so_or_flagged() {
    let seed = environment::life_seed().unwrap_or(SEED);
    let rounds = environment::life_rounds().unwrap_or(SAMPLE);
    let uri = shared::uri().await.unwrap();
    let account = lives::run(&uri, rounds, seed).await.unwrap();
    println!("{account}");
    let faults = &account.faults;
    assert!(faults.is_empty(), "from seed {seed} on: {faults:#?}");
    assert!(account.kills > 0 && account.conflicts > 0, "too tame");
}

/// S01 to S14 of the semantics, each several times over in orders of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_ordinary_histories_end_right_under_eight_processors_in_any_order() {
    let uri = shared::uri().await.unwrap();
    let histories = (SEED..SEED + 5).flat_map(ordinary::lives).collect();
    let account = lives::through(&uri, histories, SEED).await.unwrap();
    println!("{account}");
    assert!(account.faults.is_empty(), "{:#?}", account.faults);
    // S11, whose order nobody can tell: the subscription and its customer.
    assert_eq!(account.flagged, 5 * 2);
}
