#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As one_tunnel.sh, with a tunnel whose socket comes and goes while packets for its
# port are held.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
fresh || exit
parity --one-tunnel eater --kind udp --seed "${SEED:-3}" \
	--packets "${PACKETS:-5000}"
