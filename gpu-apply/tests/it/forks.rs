//! A process that was forked has one thread, and none of those that its parent had started.

use grammask_gpu_apply::{Layout, Processor, apply_mask, argmax};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};

const ROWS: usize = 64;
const COLUMNS: usize = 128 << 10;

/// A child that takes longer hangs.
const SECONDS: u32 = 60;

/// Whether work that is done in a child is done, and said to be right.
#[expect(unsafe_code, reason = "forking is the matter of the test")]
fn is_right_in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs the crate's code, and the allocator survives a fork.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            // SAFETY: a signal that nobody handles ends the process.
            unsafe { nix::libc::alarm(SECONDS) };
            let status = i32::from(!work());
            // SAFETY: it ends the process, without what the tests have to clean up.
            unsafe { nix::libc::_exit(status) }
        }
        ForkResult::Parent { child } => waitpid(child, None).unwrap() == WaitStatus::Exited(child, 0),
    }
}

/// 33 MB, for which several threads are used.
fn choose_and_apply() -> bool {
    let mut logits = vec![1.0_f32; ROWS * COLUMNS];
    let masks = vec![0x5555_5555; ROWS * COLUMNS / 32];
    let (processor, layout) = (Processor::default(), Layout::new(ROWS, COLUMNS));
    let mut best = [1; ROWS];
    argmax(processor, &logits, &masks, &layout, &mut best).unwrap();
    apply_mask(processor, &mut logits, &masks, &layout).unwrap();
    let is_right =
        |(place, logit): (usize, &f32)| *logit == if place % 2 == 0 { 1.0 } else { f32::NEG_INFINITY };
    best == [0; ROWS] && logits.iter().enumerate().all(is_right)
}

#[test]
fn a_child_shares_work_out_after_its_parent_did() {
    assert!(choose_and_apply());
    assert!(is_right_in_child(choose_and_apply));
}
