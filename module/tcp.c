// SPDX-License-Identifier: GPL-2.0-only
/* What TCP needs now and then, out of line. */
#include <net/ip6_checksum.h>

#include "tcp.h"

/* Which of the comparisons ended the aggregate; the first one counts. */
enum gro_opt_counter __cold gro_opt_tcp_why(const struct sk_buff *p,
					    const struct sk_buff *skb,
					    const struct tcphdr *th,
					    const struct tcphdr *th2, u64 l3,
					    bool lies)
{
	const u32 len = skb_gro_len(skb);

	if (lies)
		return GRO_OPT_C_flushed_length;
	if (l3)
		return GRO_OPT_C_flushed_hdr;
	if (th->ack_seq != th2->ack_seq)
		return GRO_OPT_C_flushed_ack;
	if ((tcp_flag_word(th) & gro_opt_rules.tcp_new_flush) ||
	    ((gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
	     gro_opt_rules.tcp_equal))
		return GRO_OPT_C_flushed_flags;
	if (gro_opt_options_differ(th, th2, th->doff * 4))
		return GRO_OPT_C_flushed_options;
	if (len - 1 >= skb_shinfo(p)->gso_size)
		return GRO_OPT_C_flushed_size;
	if (gro_opt_seq_differs(p, th, th2))
		return GRO_OPT_C_flushed_seq;
	if (gro_opt_decrypted_differs(p, skb))
		return GRO_OPT_C_flushed_other;
	return GRO_OPT_C_flushed_id;
}

void __cold gro_opt_count_flush(enum gro_opt_feature_id id,
				const struct sk_buff *p,
				const struct sk_buff *skb,
				const struct tcphdr *th,
				const struct tcphdr *th2, u64 l3)
{
	enum gro_opt_counter why;

	why = gro_opt_tcp_why(p, skb, th, th2, l3, NAPI_GRO_CB(skb)->flush);
	this_cpu_inc(gro_opt_pcpu_stats.opt[id][why]);
}

bool gro_opt_csum4_bad(struct sk_buff *skb)
{
	return skb_gro_checksum_validate(skb, IPPROTO_TCP,
					 inet_gro_compute_pseudo);
}

bool gro_opt_csum6_bad(struct sk_buff *skb, const void *iph,
		       unsigned int nlen)
{
	skb_gro_postpull_rcsum(skb, iph, nlen);
	return skb_gro_checksum_validate(skb, IPPROTO_TCP,
					 ip6_gro_compute_pseudo);
}

/* The bit for CWR has changed its name and meaning, so stock sets it. */
int __cold gro_opt_complete_cwr(struct sk_buff *skb)
{
	tcp_gro_complete(skb);
	return 0;
}
