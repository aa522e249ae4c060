# SPDX-License-Identifier: GPL-2.0-only
#
# Compile probes. Included by a Kbuild that sets gro_opt_compat_dir to this
# folder; makes $(obj)/gro_opt_compat.h with one HAVE_x 0|1 for each file of
# tests/. The probes are compiled inside Kbuild with the target's own compiler
# and flags, so they answer for the kernel that is built for, whatever runs
# here. Only $(src), $(obj) and $(objtree) are used: from 6.13 on make runs in
# the module's own folder, before that in the kernel's.

gro_opt_probes := $(sort $(wildcard $(gro_opt_compat_dir)/tests/*.c))

# "-Wp,-MMD,file" would write a dependency file in the name of the header.
gro_opt_probe_flags = $(filter-out -Wp$(comma)-MMD% -Wp$(comma)-MD%,$(c_flags))

quiet_cmd_gro_opt_probe = PROBE   $@
      cmd_gro_opt_probe = $(CONFIG_SHELL) $(gro_opt_compat_dir)/probe.sh $@ \
	$(objtree)/Module.symvers $(gro_opt_probes) -- \
	$(CC) $(gro_opt_probe_flags)

targets += gro_opt_compat.h
$(obj)/gro_opt_compat.h: part-of-module := y
$(obj)/gro_opt_compat.h: $(gro_opt_probes) $(gro_opt_compat_dir)/probe.sh FORCE
	$(call if_changed,gro_opt_probe)

clean-files += gro_opt_compat.h
