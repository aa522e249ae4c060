// SPDX-License-Identifier: GPL-2.0-only
/* What TCP needs now and then, out of line. */
#include <net/ip6_checksum.h>

#include "tcp.h"

/* Which of the comparisons ended the aggregate; the first one counts. */
void __cold gro_opt_count_flush(enum gro_opt_feature_id id,
				const struct sk_buff *p,
				const struct sk_buff *skb,
				const struct tcphdr *th,
				const struct tcphdr *th2, u64 l3)
{
	const u32 len = skb_gro_len(skb);

	if (NAPI_GRO_CB(skb)->flush)
		gro_opt_count_at(id, flushed_length);
	else if (l3)
		gro_opt_count_at(id, flushed_hdr);
	else if (th->ack_seq != th2->ack_seq)
		gro_opt_count_at(id, flushed_ack);
	else if ((tcp_flag_word(th) & gro_opt_rules.tcp_new_flush) ||
		 ((gro_opt_tcp_word(th) ^ gro_opt_tcp_word(th2)) &
		  gro_opt_rules.tcp_equal))
		gro_opt_count_at(id, flushed_flags);
	else if (gro_opt_options_differ(th, th2, th->doff * 4))
		gro_opt_count_at(id, flushed_options);
	else if (len - 1 >= skb_shinfo(p)->gso_size)
		gro_opt_count_at(id, flushed_size);
	else if (gro_opt_seq_differs(p, th, th2))
		gro_opt_count_at(id, flushed_seq);
	else if (gro_opt_decrypted_differs(p, skb))
		gro_opt_count_at(id, flushed_other);
	else
		gro_opt_count_at(id, flushed_id);
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
