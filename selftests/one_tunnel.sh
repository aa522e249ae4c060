#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As parity.sh, with UDP and tunnels, and one UDP tunnel in the namespace: 7.3's stock
# takes its socket without a lookup then.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
fresh || exit
parity --one-tunnel vxlan --seed "${SEED:-3}" --packets "${PACKETS:-8000}"
