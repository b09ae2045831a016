//! Which engine a run has, tried before its first phase, and what of it is in use.

use crate::clock::MonotonicClock;
use crate::engine::uring::UringEngine;
use crate::engine::waiting;
use crate::error::IoError;
use crate::targets::Target;
use model::experiment_name::EngineName;
use model::units::Bytes;
use std::os::fd::AsRawFd;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// io_uring where there is one, else blocking calls.
    #[default]
    Auto,
    Uring,
    Psync,
    /// Nothing at all: what the tool itself costs.
    Null,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct EngineOptions {
    pub kind: EngineKind,
    /// Whether to look for completions instead of waiting for them, if the drive can.
    pub polled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFacts {
    pub name: EngineName,
    /// In words: what of it is in use, and what is not and why.
    pub features: Vec<String>,
}

/// Which requests are not polled for. One that has to be split for the drive is never answered: it is queued without
/// waiting, and splitting is refused then, again and again (seen with Linux 6.1).
fn unpolled(polled_bytes_max: u64) -> String {
    match polled_bytes_max {
        0 => "not polled: the kernel does not report the largest request of the drive".into(),
        bytes => {
            format!("requests of more than {} are not polled: the kernel splits them", Bytes::new(bytes))
        }
    }
}

/// Tries the engine on the target, so that what it can do is known before the first phase.
/// Fails when the engine that was asked for is not to be had.
pub fn tried(
    target: &Target,
    options: EngineOptions,
    polled_bytes_max: u64,
    clock: MonotonicClock,
) -> Result<EngineFacts, IoError> {
    let block_bytes = target.facts().logical_block.get() as usize;
    match options.kind {
        EngineKind::Null => {
            Ok(EngineFacts { name: EngineName::Null, features: vec!["no drive is touched".into()] })
        }
        EngineKind::Psync => {
            Ok(EngineFacts { name: EngineName::Psync, features: vec!["blocking calls".into()] })
        }
        EngineKind::Uring | EngineKind::Auto => {
            let descriptor = target.descriptor().as_raw_fd();
            let polled = block_bytes as u64 <= polled_bytes_max;
            match UringEngine::open(descriptor, 1, block_bytes, polled, clock) {
                Ok(engine) => {
                    let mut features = engine.features().notes.clone();
                    features.extend(waiting::told().map(String::from));
                    if options.polled {
                        features.push(unpolled(polled_bytes_max));
                    }
                    Ok(EngineFacts { name: EngineName::Uring, features })
                }
                Err(error) if options.kind == EngineKind::Auto => {
                    let features = vec!["blocking calls".into(), format!("no io_uring: {error}")];
                    Ok(EngineFacts { name: EngineName::Psync, features })
                }
                Err(error) => Err(error),
            }
        }
    }
}
