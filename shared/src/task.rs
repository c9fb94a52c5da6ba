//! Background tasks with a name. A panic in one is logged under it instead of vanishing
//! with a handle that nobody awaits.

use std::future::Future;
use std::panic::{AssertUnwindSafe, resume_unwind};

use futures::FutureExt;
use tokio::task::JoinHandle;

/// Starts a task. Its panic is logged under `name`, and the handle still reports it.
///
/// Must be called inside a tokio runtime.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the place the ban points to"
)]
pub fn spawn<F>(name: &'static str, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(async move {
        // Unwind safety: nothing of the future is looked at again after its panic.
        match AssertUnwindSafe(future).catch_unwind().await {
            Ok(output) => output,
            Err(panic) => {
                // Without the panic's text: the panic hook has printed it, and this line
                // may go where texts of unknown content must not.
                tracing::error!(task = name, "a background task panicked");
                resume_unwind(panic)
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_hands_back_its_output() {
        assert_eq!(spawn("answer", async { 42 }).await.unwrap(), 42);
    }

    #[tokio::test]
    async fn a_panic_still_reaches_the_handle() {
        let ended = spawn("falls over", async { panic!("on purpose") }).await;
        assert!(ended.is_err_and(|error| error.is_panic()));
    }
}
