#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What GRO went wrong with elsewhere, through stock and ours: see cases.c.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
# PPPoE has GRO in some kernels, where it is loaded.
modprobe -q pppoe
fresh || exit
cases "$@"
