#!/bin/sh
# benchgate pre-push hook, written by `cargo benchgate init --hook pre-push`; `--remove-hook pre-push` takes it away.
# A regression stops the push. What the limits below leave open, or what cannot be measured, does not.
# Once without it: BENCHGATE_SKIP=1 git push, or git push --no-verify.
if [ -n "$BENCHGATE_SKIP" ] || ! command -v cargo-benchgate >/dev/null 2>&1; then
    exit 0
fi
cargo benchgate hook pre-push --time-cap 5m --max-time 2m --allow-partial
[ $? -ne 1 ]
