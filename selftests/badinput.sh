#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hostile and broken packets through stock and ours: see badinput.c.

# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

modprobe gro_lab || skip_all "no module gro_lab"
fresh || exit
badinput
