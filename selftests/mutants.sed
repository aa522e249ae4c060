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
options-taken           fast.c  s/\*(const u8 \*)iph == 0x45 && //
protocol-unchecked      fast.c  s/if (unlikely(iph->protocol != IPPROTO_TCP))/if (0)/
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
tot-len-kept            fast.c  s/iph->tot_len = tot_len;/;/
gso-type-lost           fast.c  s/SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb)/gro_opt_fixedid_gso(skb)/
fixed-id-lost           fast.c  s/SKB_GSO_TCPV4 | gro_opt_fixedid_gso(skb)/SKB_GSO_TCPV4/
payload-len-kept        fast.c  s/iph->payload_len = htons(payload);/;/
pseudo-sum-off          l3.h  s/u64 sum = len + IPPROTO_TCP;/u64 sum = len + IPPROTO_UDP;/
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
next4-ttl-unchecked     l3.h  s/cpu_to_be32(0xFFFF0000)/cpu_to_be32(0x00FF0000)/
next4-tos-unchecked     l3.h  s/#define GRO_OPT_IP4_NEXT	cpu_to_be64(0xFFFFFFFF0000FFFFULL)/#define GRO_OPT_IP4_NEXT	cpu_to_be64(0xFF00FFFF0000FFFFULL)/
next6-unchecked         l3.h  s/return (gro_opt_load64(iph) ^ gro_opt_load64(iph2)) |/return/
version-unchecked       l3.h  s/((\*(const u8 \*)iph ^ 0x60) \& 0xf0);/0;/
gso-of-held-unchecked   tcp.h  s/differs |= pinfo->gso_type;/;/
