#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random streams through stock and ours: see parity.c. SEED=n and PACKETS=n for
# others, and more of them: make check-long.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
fresh || exit
parity --seed "${SEED:-1}" --packets "${PACKETS:-20000}"
