//! What an operator sees: request numbers in logs and answers, counters, health.

#[cfg(feature = "otel")]
mod export;
pub mod health;
pub mod logs;
pub mod metrics;
pub mod observe;
