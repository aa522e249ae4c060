# Faults that a wrong handler could have, one a line: NAME FILE SED-EXPRESSION.
# selftests/mutants builds the module with each and demands that the comparison
# with stock finds it. An expression that changes nothing fails as well.
ttl-unchecked           l3.h    s/return (iph->ttl ^ iph2->ttl) | /return /
tos-unchecked           l3.h    s/(iph->tos ^ iph2->tos) |/0 |/
df-unchecked            l3.h    s/(iph->frag_off ^ iph2->frag_off) & htons(IP_DF))/0)/
ip-id-unchecked         l3.h    s/return gro_opt_id_flush(p, .*/return 0 \& gro_opt_id_flush(p, ntohs(iph->id) - ntohs(iph2->id),/
ip-length-unchecked     l3.h    s/return (u16)(skb->len - off) != ntohs(iph->tot_len) ||/return/
ip-csum-unchecked       l3.h    s/return gro_opt_fold64(sum) == 0xffff/return true/
fragment-taken          fast.c  s/(iph->frag_off & htons(IP_MF | IP_OFFSET)) ||//
options-taken           fast.c  s/likely(\*(const u8 \*)iph == 0x45 &&$/likely(1 \&\&/
protocol-unchecked      fast.c  /^gro_opt_inet_take(/,/^}/s/likely(iph->protocol == IPPROTO_TCP)/likely(iph->protocol != IPPROTO_UDP)/
hop-limit-unchecked     l3.h    s/cpu_to_be64(0xFFFFFFFF0000FFFFULL)/cpu_to_be64(0xFFFFFFFF0000FF00ULL)/
tclass-unchecked        l3.h    s/cpu_to_be64(0xFFFFFFFF0000FFFFULL)/cpu_to_be64(0xF00FFFFF0000FFFFULL)/
flow-label-unchecked    l3.h    s/cpu_to_be64(0xF00FFFFF0000FF00ULL)/cpu_to_be64(0xF00000000000FF00ULL)/
payload-len-unchecked   l3.h    s/return skb->len - off - sizeof(\*iph) != ntohs(iph->payload_len)/return false/
exthdr-unchecked        fast.c  s/if (likely(!gro_opt_exthdrs_differ(iph, iph2, nlen) \&\&/if ((1 \&\&/
seq-unchecked           tcp.h   s/return (ntohl(th2->seq) + skb_gro_len(p)) ^ ntohl(th->seq)/return 0/
flags-unchecked         selfcheck.c  s/~(TCP_FLAG_FIN | TCP_FLAG_PSH)/~(TCP_FLAG_FIN | TCP_FLAG_PSH | TCP_FLAG_ECE)/
ack-unchecked           selfcheck.c  s/{ ~(__be32)0, /{ 0, /
tcp-options-unchecked   tcp.h   s/return (gro_opt_load64(a + 20) ^ gro_opt_load64(b + 20)) |/return/
odd-options-unchecked   tcp.h   s/differ |= gro_opt_load32(a + i) ^ gro_opt_load32(b + i)/differ |= 0/
push-not-flushed        tcp.h   s/if (flags & GRO_OPT_TCP_LAST) {/if (0) {/
push-not-passed-on      tcp.h   s/tcp_flag_word(th2) |= flags & (TCP_FLAG_FIN | TCP_FLAG_PSH);/;/
push-held               tcp.h   s/if (!len || (flags & GRO_OPT_TCP_LAST))/if (!len)/
short-not-flushed       tcp.h   s/if (len < skb_shinfo(p)->gso_size) {/if (0) {/
longer-merged           tcp.h   s/return differs || len - 1 >= skb_shinfo(p)->gso_size ||/return differs ||/
csum4-unchecked         fast.c  s/^		 gro_opt_csum4_bad(skb))/		 0 \&\& gro_opt_csum4_bad(skb))/
csum6-unchecked         fast.c  s/^		 gro_opt_csum6_bad(skb, iph, nlen))/		 0 \&\& gro_opt_csum6_bad(skb, iph, nlen))/
order-wrong             tcp.h   s/^	return p;\n}/&/; /^gro_opt_tcp_new(/,/^}/s/	return p;/	return NULL;/
truesize-off            merge.h s/p->truesize += delta;/p->truesize += delta + 1;/
len-off                 merge.h s/p->data_len += len;/p->data_len += len - 1;/
segments-off            merge.h s/NAPI_GRO_CB(p)->count++;/NAPI_GRO_CB(p)->count += 2;/
frag-not-trimmed        merge.h s/skb_frag_off_add(&to\[0\], eat);/;/
second-frag-lost        merge.h s/while (unlikely(++i < skbinfo->nr_frags))/while (0 \&\& ++i)/
head-taken-wrong        merge.c s/skb->data - (u8 \*)page_address(page) + offset,/skb->data - (u8 *)page_address(page),/
chain-not-pulled        merge.c s/__skb_pull(skb, offset);/;/
zero-copy-taken         merge.h  s/info->gso_size || info->flags;/info->gso_size;/
gso-taken               merge.h  s/info->gso_size || info->flags;/info->flags;/
frag-list-taken         merge.h  s/off > GRO_OPT_MAX_L3_OFFSET || NAPI_GRO_CB(skb)->flush ||/off > GRO_OPT_MAX_L3_OFFSET ||/
tot-len-kept            l3.h  s/iph->tot_len = tot_len;/;/
gso-type-lost           fast.c  s/SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb)/gro_opt_fixedid_gso(skb)/
fixed-id-lost           fast.c  s/SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb)/SKB_GSO_TCPV4/
payload-len-kept        fast.c  s/iph->payload_len = htons(payload);/;/
pseudo-sum-off          l3.h  s/u64 sum = len + proto;/u64 sum = len + 1 + proto;/
csum-start-off          tcp.h  s/gro_opt_set_csum_start(skb, skb->transport_header,/gro_opt_set_csum_start(skb, skb->network_header,/
summed-kept             tcp.h   s/skb->ip_summed = CHECKSUM_PARTIAL;/;/
transport-unset         fast.c  /^gro_opt_tcp4(/,/^}/s/skb_set_transport_header(skb, thoff);/;/
data-offset-short       fast.c  s/NAPI_GRO_CB(skb)->data_offset = thoff + thlen;/NAPI_GRO_CB(skb)->data_offset = thoff;/
inner-taken             merge.h  s/off > GRO_OPT_MAX_L3_OFFSET || //
chained-joined          merge.h  s/return NAPI_GRO_CB(p)->is_flist || /return /
chaining-overlooked     merge.h  s/return skb->dev->features \& NETIF_F_GRO_FRAGLIST;/return false;/
proto-of-held-unchecked fast.c  s/		    NAPI_GRO_CB(p)->proto != IPPROTO_TCP ||/		    0 ||/
tunnel-of-held-ignored  fast.c  s/^		    NAPI_GRO_CB(p)->encap_mark)/		    0)/
csum-of-next-unchecked  l3.h  s/return differs | (gro_opt_fold32(sum) ^ 0xffff);/return differs;/
# One of them alone is seen in the sum of ID and checksum; of both, 255 each is not.
next4-tos-ttl-unchecked l3.h  s/cpu_to_be32(0xFFFF0000)/cpu_to_be32(0x00FF0000)/;s/#define GRO_OPT_IP4_NEXT	cpu_to_be64(0xFFFFFFFF0000FFFFULL)/#define GRO_OPT_IP4_NEXT	cpu_to_be64(0xFF00FFFF0000FFFFULL)/
next6-unchecked         l3.h  s/return (gro_opt_load64(iph) ^ gro_opt_load64(iph2)) |/return/
version-unchecked       l3.h  s/((\*(const u8 \*)iph ^ 0x60) \& 0xf0);/0;/
gso-of-held-unchecked   tcp.h  s/differs |= pinfo->gso_type;/;/
udp-options-taken       udp.h   s/return \*(const u8 \*)iph == 0x45 && /return /
udp-fragment-taken      l3.h    s/cpu_to_be32(0xBFFF00FF)/cpu_to_be32(0x000000FF)/
udp-inner-taken         udp.h   s/off <= GRO_OPT_MAX_L3_OFFSET && !NAPI_GRO_CB(skb)->flush &&/!NAPI_GRO_CB(skb)->flush \&\&/
udp4-tot-len-unchecked  udp.h   s/^	       len == ntohs(iph->tot_len) &&$//
udp4-len-unchecked      udp.h   s/len - sizeof(\*iph) == ntohs(uh->len) &&//
udp4-empty-taken        udp.h   s/len > sizeof(\*iph) + sizeof(\*uh) && //
udp4-ip-csum-unchecked  udp.h   s/ && gro_opt_csum4_ok(iph);/;/
udp6-pay-len-unchecked  udp.h   s/len == ntohs(iph->payload_len) && uh->len == iph->payload_len/len == ntohs(uh->len)/
udp6-len-unchecked      udp.h   s/ && uh->len == iph->payload_len//
udp6-empty-taken        udp.h   s/^	       len > sizeof(\*uh);/	       true;/
udp4-rest-no-transport  udp.h   /^static __always_inline void gro_opt_udp4_note(/,/^}/s/skb_set_transport_header(.*/;/
udp6-rest-no-transport  udp.h   /^static __always_inline void gro_opt_udp6_note(/,/^}/s/skb_set_transport_header(.*/;/
udp4-rest-offset-off    udp.h   s/NAPI_GRO_CB(skb)->data_offset = off + sizeof(\*iph);/NAPI_GRO_CB(skb)->data_offset = off;/
udp4-same-flow-kept     udp.c   /^gro_opt_udp4_find(/,/^}/s/NAPI_GRO_CB(p)->same_flow = 0;/;/
udp6-same-flow-kept     udp.c   /^gro_opt_udp6_find(/,/^}/s/NAPI_GRO_CB(p)->same_flow = 0;/;/
udp4-addrs-unchecked    udp.c   s/if ((gro_opt_addrs4(iph2) ^ gro_opt_addrs4(iph)) |/if ((0) |/
udp6-addrs-unchecked    udp.c   /^gro_opt_udp6_find(/,/^}/s/gro_opt_addrs6_differ(iph, iph2)) {/0) {/
udp-protocol-unchecked  udp.c   s/(iph2->protocol ^ IPPROTO_UDP))/0)/
udp4-ports-unchecked    udp.c   /^gro_opt_udp4_find(/,/^}/s/gro_opt_load32(uh) != gro_opt_load32(uh2)/0/
udp6-ports-unchecked    udp.c   /^gro_opt_udp6_find(/,/^}/s/gro_opt_load32(uh) != gro_opt_load32(uh2)/0/
udp4-zero-sum-joined    udp.c   /^gro_opt_udp4_find(/,/^}/s/ || !uh->check))/))/
udp6-zero-sum-joined    udp.c   /^gro_opt_udp6_find(/,/^}/s/ || !uh->check))/))/
udp-gso-taken           udp.c   s/return gro_opt_unusual(skb, off) || skb->encapsulation ||/return skb->encapsulation ||/
udp-local-tunnel-taken  udp.c   s/return gro_opt_unusual(skb, off) || skb->encapsulation ||/return gro_opt_unusual(skb, off) ||/
udp-chaining-overlooked udp.c   s/gro_opt_chains(skb) || skb_shinfo(p)->gso_type ||/skb_shinfo(p)->gso_type ||/
udp-held-unvetted       udp.c   s/gro_opt_unusual_held(p, skb, skb_shinfo(p), len, type);/0;/
udp-plain-socket-taken  udp.c   s/return likely(udp_test_bit(GRO_ENABLED, sk)) &&/return/
udp-nobodys-taken       udp.c   s/return skb->dev->features & NETIF_F_GRO_UDP_FWD;/return true;/
udp-full-len-unchecked  udp.c   s/differs |= (__force u16)(uh->len ^ uh2->len);/;/
udp-full-len-lies       udp.c   s/differs |= len ^ ntohs(uh->len);/;/
udp-csum-known-to-all   udp.c   s/return !differs && gro_opt_csum_known(skb, thoff);/return !differs;/
udp-short-goes-on       udp.c   s/	if (uh->len == uh2->len)$/	if (1)/
udp-sixty-five          udp.c   s/< GRO_OPT_UDP_MAX/<= GRO_OPT_UDP_MAX/
udp-order-wrong         udp.c   /^gro_opt_udp_other(/,/^}/s/	return p;/	return NULL;/
udp4-longer-joined      udp.c   /^gro_opt_udp4_decide(/,/^}/s/ || ntohs(uh->len) > ntohs(uh2->len) ||/ ||/
udp6-longer-joined      udp.c   /^gro_opt_udp6_decide(/,/^}/s/ || ntohs(uh->len) > ntohs(uh2->len))/)/
udp4-csum-unchecked     udp.c   s/ && gro_opt_udp4_csum_bad(skb))/ \&\& 0 \&\& gro_opt_udp4_csum_bad(skb))/
udp6-csum-unchecked     udp.c   s/^	    gro_opt_udp6_csum_bad(skb, iph))/	    0 \&\& gro_opt_udp6_csum_bad(skb, iph))/
udp4-id-unchecked       udp.c   /^gro_opt_udp4_next(/,/^}/s/!gro_opt_id_differs(p, iph, iph2) &&/1 \&\&/
udp4-id-slow-unchecked  udp.c   /^gro_opt_udp4_decide(/,/^}/s/gro_opt_id_differs(p, iph, iph2))/0)/
udp4-hdr-slow-unchecked udp.c   /^gro_opt_udp4_decide(/,/^}/s/l3 = gro_opt_hdr4_differs(iph, iph2);/l3 = 0;/
udp4-hdr-unchecked      udp.c   /^gro_opt_udp4_next(/,/^}/s/gro_opt_next4_differs(iph, iph2)/0/
udp6-hdr-slow-unchecked udp.c   /^gro_opt_udp6_decide(/,/^}/s/l3 = gro_opt_hdr6_differs(.*/l3 = 0;/
udp6-hdr-unchecked      udp.c   /^gro_opt_udp6_next(/,/^}/s/gro_opt_next6_differs(iph, iph2)/0/
udp-slow-offset-short   udp.c   s/NAPI_GRO_CB(skb)->data_offset = hlen;/;/
udp-vet-unsound         udp.c   s/if (gro_opt_udp\([46]\)_sound(skb, iph, uh, off) &&/if (1 \&\&/
udp-none-unsound        udp.c   s/if (unlikely(!gro_opt_udp\([46]\)_sound(skb, iph, uh, off))) {/if (0) {/
udp-vet-usual           udp.c   /^gro_opt_udp[46]_vet(/,/^}/s/!gro_opt_udp_unusual(.*/1 \&\&/
udp-vet-unwanted        udp.c   /^gro_opt_udp[46]_vet(/,/^}/s/gro_opt_udp_wanted(skb, gro_opt_udp[46]_lookup(skb, iph, uh)))/1)/
udp-len-kept            udp_complete.c   s/	uh->len = htons(len);/	;/
udp-check-kept          udp_complete.c   s/	uh->check = pseudo;/	;/
udp-gso-type-lost       udp_complete.c   s/info->gso_type |= SKB_GSO_UDP_L4;/;/
udp-segments-lost       udp_complete.c   s/info->gso_segs = NAPI_GRO_CB(skb)->count;/;/
udp-csum-start-off      udp_complete.c   s/skb->csum_start = skb->transport_header;/skb->csum_start = skb->network_header;/
udp-summed-kept         udp_complete.c   s/skb->ip_summed = CHECKSUM_PARTIAL;/;/
udp-tot-len-kept        udp_complete.c   s/iph->tot_len = tot_len;/;/
udp-payload-len-kept    udp_complete.c   s/iph->payload_len = htons(ulen);/;/
# Of two L3 headers. What begins with "encap" is looked for in tunnels.
encap-outer-flow       encap.c s/if (back && gro_opt_l3_flow_differs(/if (0 \&\& gro_opt_l3_flow_differs(/
encap-inner-addresses  encap.c s/return !(gro_opt_l3_addrs_differ(inner, inner2, inner6) |/return !(0 |/
encap-inner-ports      encap.c /^gro_opt_tunnel_matches(/,/^}/s/(gro_opt_load32(inner + ilen) ^/(gro_opt_load32(inner2 + ilen) ^/
encap-inner-start       encap.c s|differs = gro_opt_l3_start_differs(inner, inner2, inner6);|differs = 0;|
encap-outer-start      encap.c s/differs |= gro_opt_l3_start_differs(inner - back, inner2 - back,/differs |= 0 \& (/
encap-id-and-sum       tunnel.h s/return x >= y && x - y == (step << 48) - step;/return true;/
encap-noted-outer      encap.c /^gro_opt_noted_outer_steps(/,/^}/s/return -1;/return 0;/
encap-outer-id-free    selfcheck.c s/gro_opt_rules.outer_id_free = merges;/gro_opt_rules.outer_id_free = !merges;/
encap-settled-lost     encap.c s/gro_opt_settle(p, settled);/;/
encap-slow-outer-flow  encap_slow.c /^static struct sk_buff \*gro_opt_tunnel_lookup(/,/^}/s/if (gro_opt_way_whole(t->way) &&/if (0 \&\&/
encap-slow-inner-flow  encap_slow.c /^static struct sk_buff \*gro_opt_tunnel_lookup(/,/^}/s/if (gro_opt_l3_flow_differs(t->base + t->inner,/if (0 \&\& gro_opt_l3_flow_differs(t->base + t->inner,/
encap-slow-hdr-outer   encap_slow.c s/return differs | gro_opt_l3_differs(t->base + t->outer,/return differs; gro_opt_l3_differs(t->base + t->outer,/
encap-slow-hdr-inner   encap_slow.c s/differs = gro_opt_l3_differs(t->base + t->inner, p->data + t->inner,/differs = 0 \& (/
encap-slow-hdr-noted   encap_slow.c s/return differs | gro_opt_outer_differs(p, t);/return differs;/
encap-slow-ids         encap_slow.c s/^	    !gro_opt_tunnel_ids_differ(p, skb, t))/	    (gro_opt_tunnel_ids_differ(p, skb, t) || 1))/
encap-unsound          encap_slow.c s/!gro_opt_tunnel_locate(skb, &t) || !gro_opt_tunnel_sound(&t))/!gro_opt_tunnel_locate(skb, \&t))/
encap-lies             encap_slow.c s/if (unlikely(gro_opt_tunnel_lies(skb, t)))/if (0)/
encap-csum             encap_slow.c s/^		 gro_opt_tunnel_csum_bad(skb, t))/		 0 \&\& gro_opt_tunnel_csum_bad(skb, t))/
encap-unmarked         compat/tunnel.h s/NAPI_GRO_CB(skb)->encap_mark = 1;/;/
encap-offset-inner     compat/tunnel.h s/NAPI_GRO_CB(skb)->network_offsets\[1\] = inner;/NAPI_GRO_CB(skb)->network_offsets[1] = outer;/; s/skb_set_network_header(skb, inner);/skb_set_network_header(skb, outer);/
encap-second-tunnel    encap.c /^static noinline struct sk_buff \*gro_opt_entry_take(/,/^}/s/if (NAPI_GRO_CB(skb)->encap_mark)/if (0)/
encap-flush-taken      encap.c s/^	       NAPI_GRO_CB(skb)->flush || info->gso_size || info->flags;/	       info->gso_size || info->flags;/
encap-gso-taken        encap.c s/NAPI_GRO_CB(skb)->flush || info->gso_size || info->flags;/NAPI_GRO_CB(skb)->flush || info->flags;/
encap-type-swapped     encap_complete.c s/outer6 ? SKB_GSO_IPXIP6 : SKB_GSO_IPXIP4/outer6 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6/
encap-not-encapsulated encap_complete.c /^static __always_inline int gro_opt_outer_complete(/,/^}/s/skb->encapsulation = 1;/;/
encap-outer-length     encap_complete.c s/gro_opt_l3_set_len(skb->data + nhoff, skb->len - nhoff, outer6);/;/
encap-inner-length     encap_complete.c s/gro_opt_l3_set_len(l3, skb->len - nhoff, inner6);/;/
encap-inner-network    encap_complete.c s/skb_set_inner_network_header(skb, nhoff);/;/
encap-inner-transport  encap_complete.c s/skb->inner_transport_header = skb->transport_header;/;/
encap-inner-pseudo     encap_complete.c s/gro_opt_tcp4_pseudo(l3, skb->len - thoff)/gro_opt_tcp4_pseudo(l3, skb->len - nhoff)/
encap-inner-fixed-id   encap_complete.c s/SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb)/SKB_GSO_TCPV4/
encap-udp-check        udp.c s/if (!uh->check == !uh2->check)/if (1)/
encap-udp-vouched      udp_tunnel.h s/gro_opt_cb_add(skb, -gro_opt_load32(&one.zeroed));/;/
encap-udp-unmarked     udp_tunnel.h s/NAPI_GRO_CB(skb)->encap_mark = 1;/;/
encap-udp-depth        udp_tunnel.h s/gro_opt_udp_deeper(skb, 2);/gro_opt_udp_deeper(skb, 10);/
encap-entry-type       encap_complete.c s/outer4 ? SKB_GSO_IPXIP4 : SKB_GSO_IPXIP6/outer4 ? SKB_GSO_IPXIP6 : SKB_GSO_IPXIP4/
