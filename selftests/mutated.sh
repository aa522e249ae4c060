#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As parity.sh, with one frame in four mutated.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
fresh || exit
parity --mutate --seed "${SEED:-1}" --packets "${PACKETS:-12000}"
