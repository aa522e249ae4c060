# Faults that the self-check at load has to see, one a line: NAME FEATURES FILE
# SED-EXPRESSION. Just these features (separated by commas) are refused, and what
# is left equals stock. A "?" behind the features: on kernels where the fault
# makes no difference none is refused. Variants picked wrongly are among them.
ttl-unchecked           encap,tcp4,udp4   l3.h         s/return (iph->ttl ^ iph2->ttl) | /return /
tot-len-kept            encap,tcp4        l3.h         s/iph->tot_len = tot_len;/;/
hop-limit-unchecked     encap,exthdr,tcp6,udp6  l3.h         s/cpu_to_be64(0xFFFFFFFF0000FFFFULL)/cpu_to_be64(0xFFFFFFFF0000FF00ULL)/
exthdr-unchecked        exthdr            fast.c       s/if (likely(!gro_opt_exthdrs_differ(iph, iph2, nlen) \&\&/if ((1 \&\&/
variant-cwr-wrong       encap,exthdr,tcp4,tcp6  selfcheck.c  /^static int gro_opt_learn(/,/^}/s/if (!merges) {/if (merges) {/
variant-fixed-id-wrong  encap,tcp4,udp4?  selfcheck.c  s/gro_opt_rules.any_fixedid = merges;/gro_opt_rules.any_fixedid = !merges;/
variant-hop-wrong       exthdr?           selfcheck.c  s/gro_opt_rules.hop_walked = merges;/gro_opt_rules.hop_walked = !merges;/
udp-tot-len-kept        udp4              udp_complete.c      s/iph->tot_len = tot_len;/;/
udp-len-kept            udp4,udp6         udp_complete.c      s/	uh->len = htons(len);/	;/
udp-zero-sum-joined     udp4,udp6         udp.c        s/ || !uh->check))/))/
variant-outer-id-wrong  encap?            selfcheck.c  s/gro_opt_rules.outer_id_free = merges;/gro_opt_rules.outer_id_free = !merges;/
encap-type-swapped      encap             encap_complete.c      s/outer6 ? SKB_GSO_IPXIP6 : SKB_GSO_IPXIP4/outer6 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6/
encap-entry-type        encap             encap_complete.c      s/outer4 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6/outer4 ? SKB_GSO_IPXIP6 : SKB_GSO_IPXIP4/
encap-inner-transport   encap             encap_complete.c      s/skb->inner_transport_header = skb->transport_header;/;/
