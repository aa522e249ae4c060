/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/gro_lab: frames in, what GRO makes of them out. Shared by the kernel
 * module and the tools; test-only, so not a promise to anyone but them.
 *
 * write() takes one batch: a struct gro_lab_batch, then one struct
 * gro_lab_frame for each frame, then all frames' bytes without gaps. Unless it
 * says GRO_LAB_B_LOAD it runs at once, in one NAPI poll of lab<napi>.
 *
 * read() gives the result of the last run: a struct gro_lab_result, one byte
 * a frame with its enum gro_lab_verdict, padded to 8 bytes, then a record for
 * each skb that left GRO, in order: a struct gro_lab_skb, its
 * struct gro_lab_member's, its bytes from the MAC header on, padded to 8 bytes.
 *
 * Offsets are relative to the start of the frame on the way in and to the
 * network header, skb->data, on the way out. All numbers are in host order.
 */
#ifndef _GRO_LAB_H
#define _GRO_LAB_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GRO_LAB_VERSION		2

#define GRO_LAB_MAX_BATCH	(64 << 20)	/* bytes in one write() */
#define GRO_LAB_MAX_FRAMES	65536
#define GRO_LAB_MAX_FRAME	(8 * 65535)
#define GRO_LAB_MAX_ROOM	4096		/* headroom, tailroom */
#define GRO_LAB_MAX_FRAGS	20		/* the kernel may allow less */
#define GRO_LAB_MAX_MEMBERS	64
#define GRO_LAB_MAX_FRAG_LEN	32768		/* a page with a page pool */

/* struct gro_lab_batch: flags */
#define GRO_LAB_B_FRAGS		0x1	/* napi_gro_frags() */
#define GRO_LAB_B_LOAD		0x2	/* keep for an ioctl() */
#define GRO_LAB_B_DELIVER	0x4	/* pass on to the stack */
#define GRO_LAB_B_NO_CAPTURE	0x8	/* no records */
/* Wait also for packets that went into other NAPIs of this CPU, as ESP's do. */
#define GRO_LAB_B_SETTLE	0x40
/* What ends the poll; without one of these napi_complete_done() alone. */
#define GRO_LAB_B_FLUSH		0x10	/* flush all held packets */
#define GRO_LAB_B_HOLD		0x20	/* keep them for later batches */

/* struct gro_lab_batch: features that lab<napi> has in the poll, others not */
#define GRO_LAB_DEV_UDP_FWD	0x1	/* rx-udp-gro-forwarding */
#define GRO_LAB_DEV_FRAGLIST	0x2	/* rx-gro-list */
#define GRO_LAB_DEV_NO_GRO	0x4	/* generic-receive-offload off */

/* struct gro_lab_batch: entry, the way into GRO */
enum gro_lab_entry {
	GRO_LAB_ENTRY_NAPI,		/* lab<napi>'s, in softirq */
	GRO_LAB_ENTRY_THREADED,		/* the same in a thread of its own */
	GRO_LAB_ENTRY_BUSY,		/* polled by who writes */
	GRO_LAB_ENTRY_CELLS,		/* gro_cells; no B_FRAGS, no B_HOLD */
	GRO_LAB_ENTRIES
};

struct gro_lab_batch {
	__u32 version;		/* GRO_LAB_VERSION */
	__u32 frame_size;	/* sizeof(struct gro_lab_frame) */
	__u32 frames;
	__u32 flags;
	__u32 napi;		/* whose NAPI polls: lab<napi> */
	__u32 features;		/* GRO_LAB_DEV_* */
	__u32 gro_max_size;	/* 0: 65536 */
	__u32 gro_ipv4_max_size;	/* the same; 6.1 knows none */
	__u32 entry;		/* enum gro_lab_entry */
	__u32 resv[7];		/* 0 */
};

/* struct gro_lab_frame: flags */
#define GRO_LAB_F_HEADROOM	0x1	/* headroom is given */
#define GRO_LAB_F_TAILROOM	0x2	/* tailroom is given */
#define GRO_LAB_F_CSUM		0x4	/* csum is given for COMPLETE */
#define GRO_LAB_F_VLAN		0x8	/* tag in the skb */
#define GRO_LAB_F_ENCAP		0x10	/* skb->encapsulation */
#define GRO_LAB_F_DECRYPTED	0x20	/* skb->decrypted */
#define GRO_LAB_F_ZEROCOPY	0x40	/* has a zero-copy owner */
#define GRO_LAB_F_SHARED_FRAG	0x80	/* frags may be written to */
#define GRO_LAB_F_FLUSH		0x100	/* flush before this frame */
#define GRO_LAB_F_RAW		0x200	/* of a device without MAC header */
#define GRO_LAB_F_ALL		0x3ff

/* What a frame can have of each kind at which slow_gro looks: none, 1, 2. */
#define GRO_LAB_METAS		2
#define GRO_LAB_META_OTHER	0xff		/* one of somebody else */

#define GRO_LAB_LINEAR_ALL	(~0U)

enum gro_lab_head {
	GRO_LAB_HEAD_FRAG,		/* page fragment, skb->head_frag */
	GRO_LAB_HEAD_KMALLOC,
	GRO_LAB_HEAD_POOL,		/* page pool, skb->pp_recycle */
	GRO_LAB_HEADS
};

enum gro_lab_csum {
	GRO_LAB_CSUM_NONE,
	GRO_LAB_CSUM_UNNECESSARY,
	GRO_LAB_CSUM_COMPLETE,		/* computed unless F_CSUM */
	GRO_LAB_CSUM_PARTIAL,
	GRO_LAB_CSUMS
};

enum gro_lab_hash {
	GRO_LAB_HASH_L2,
	GRO_LAB_HASH_L3,
	GRO_LAB_HASH_L4,
	GRO_LAB_HASHES
};

/*
 * gso_type: the bits that all kernels agree on, and these four, which are
 * translated.
 */
#define GRO_LAB_GSO_TCPV4		0x1U
#define GRO_LAB_GSO_DODGY		0x2U
#define GRO_LAB_GSO_TCP_ECN		0x4U
#define GRO_LAB_GSO_TCP_FIXEDID		0x8U
#define GRO_LAB_GSO_TCPV6		0x10U
#define GRO_LAB_GSO_GRE			0x40U
#define GRO_LAB_GSO_GRE_CSUM		0x80U
#define GRO_LAB_GSO_IPXIP4		0x100U
#define GRO_LAB_GSO_IPXIP6		0x200U
#define GRO_LAB_GSO_UDP_TUNNEL		0x400U
#define GRO_LAB_GSO_UDP_TUNNEL_CSUM	0x800U
#define GRO_LAB_GSO_PARTIAL		0x1000U
#define GRO_LAB_GSO_TUNNEL_REMCSUM	0x2000U
#define GRO_LAB_GSO_UDP_L4		0x20000U
#define GRO_LAB_GSO_FRAGLIST		0x40000U
#define GRO_LAB_GSO_TCP_ACCECN		0x80000U
#define GRO_LAB_GSO_TCP_FIXEDID_INNER	0x80000000U

/*
 * The skb is made of @linear bytes in the head, then @nr_frags page frags of
 * @frag_len each, then @nr_members skbs of @member_len in the frag_list. The
 * sum has to be @len. Without @nr_frags what is left is in as few frags as
 * possible. All zero but @len and @linear is what a simple driver does:
 * headers in a page fragment, CHECKSUM_NONE, no hash.
 */
struct gro_lab_frame {
	__u32 len;		/* from the Ethernet header on, without FCS */
	__u32 flags;
	__u32 linear;		/* 14 at least; 0 with napi_gro_frags() */
	__u16 headroom;		/* default NET_SKB_PAD + NET_IP_ALIGN */
	__u16 tailroom;		/* default 128 */
	__u8 head;		/* enum gro_lab_head */
	__u8 dev;		/* skb->dev: lab<dev> */
	__u8 nr_frags;
	__u8 nr_members;
	__u32 member_len;
	__u32 frag_truesize;	/* a frag's; default: its length, aligned */
	__u16 frag_len[GRO_LAB_MAX_FRAGS];
	__u8 ip_summed;		/* enum gro_lab_csum */
	__u8 csum_level;
	__u8 hash_type;		/* enum gro_lab_hash */
	__u8 pad;
	__u16 csum_start;
	__u16 csum_offset;
	__u32 csum;
	__u32 hash;		/* 0: none */
	__u16 vlan_proto;
	__u16 vlan_tci;
	__u16 gso_size;
	__u16 gso_segs;
	__u32 gso_type;
	__u16 transport;	/* header offsets; 0: not set */
	__u16 inner_mac;
	__u16 inner_network;
	__u16 inner_transport;
	__u8 dst;		/* up to GRO_LAB_METAS; not with B_DELIVER */
	__u8 sk;
	__u8 ct;		/* a connection, see GRO_LAB_CAN_CT */
	__u8 tc;		/* tc_skb_ext, see GRO_LAB_CAN_TC */
	__u32 resv[21];		/* 0 */
};

/* gro_result_t of napi_gro_receive() or napi_gro_frags(); cells tell none. */
enum gro_lab_verdict {
	GRO_LAB_MERGED,
	GRO_LAB_MERGED_FREE,
	GRO_LAB_HELD,
	GRO_LAB_NORMAL,
	GRO_LAB_CONSUMED,
	GRO_LAB_QUEUED,
};

struct gro_lab_result {
	__u32 version;
	__u32 frames;		/* verdicts that follow */
	__u32 skbs;		/* records that follow */
	__u32 lost;		/* skbs that there was no room for: a bug */
	__u32 held;		/* frames that went in and may still be held */
	__u32 resv[3];
	__u64 size;		/* of all this */
};

#define GRO_LAB_DEV_RAW		0xff
#define GRO_LAB_UNSET		(-0x7fffffff - 1)	/* a header offset */
#define GRO_LAB_UNSET16		(-0x7fff - 1)

struct gro_lab_skb {
	__u32 size;		/* of the record */
	__u32 bytes;		/* of the packet in it, MAC header included */
	__u32 len;
	__u32 data_len;
	__u32 truesize;
	__u32 headroom;
	__u32 hash;
	__u32 csum;
	__u32 gso_type;
	__u16 gso_size;
	__u16 gso_segs;
	__u16 protocol;
	__u16 csum_start;	/* with CHECKSUM_PARTIAL */
	__u16 csum_offset;
	__u16 vlan_proto;
	__u16 vlan_tci;		/* with vlan_present */
	__u16 nr_members;
	__s32 mac_header;
	__s32 network_header;
	__s32 transport_header;
	__s32 inner_mac_header;
	__s32 inner_network_header;
	__s32 inner_transport_header;
	__u16 frag_len[GRO_LAB_MAX_FRAGS];
	__u8 nr_frags;
	__u8 dev;		/* lab<dev>, or GRO_LAB_DEV_RAW */
	__u8 ip_summed;		/* enum gro_lab_csum */
	__u8 csum_level;
	__u8 l4_hash;
	__u8 sw_hash;
	__u8 vlan_present;
	__u8 encapsulation;
	__u8 pkt_type;
	__u8 shinfo_flags;	/* SKBFL_* */
	__u8 head_frag;
	__u8 pp_recycle;
	__u8 decrypted;
	__u8 csum_valid;	/* skb->csum_valid */
	__u16 mac_len;
	__u8 dst;		/* as in struct gro_lab_frame, or META_OTHER */
	__u8 sk;
	__u8 ct;
	__u8 tc;
	__u8 slow_gro;
	__u8 remcsum;
	__u16 inner_protocol;
	__u16 queue;		/* recorded, plus one */
	__u32 resv[6];
};

struct gro_lab_member {
	__u32 len;
	__u32 data_len;
	__u32 truesize;
	__u8 nr_frags;
	__u8 head_frag;
	__u8 pp_recycle;
	__u8 ip_summed;		/* enum gro_lab_csum */
	__s16 mac_header;	/* GRO_LAB_UNSET16 if not set */
	__s16 network_header;
	__s16 transport_header;
	__u8 nohdr;
	__u8 csum_level;
	__u32 headers_sum;	/* hash of MAC header to data */
	__u32 resv;
};

/*
 * Counted around the callbacks of the outermost L3, for packets of all devices,
 * while measuring is on. Cycles are the TSC's, less what an empty call costs.
 */
struct gro_lab_counters {
	__u64 packets;
	__u64 cycles;		/* in gro_receive */
	__u64 merged;
	__u64 held;
	__u64 normal;
	__u64 consumed;
	__u64 completes;
	__u64 complete_cycles;	/* in gro_complete */
	__u64 segments;		/* in the completed packets */
};

enum gro_lab_family {
	GRO_LAB_IPV4,
	GRO_LAB_IPV6,
	GRO_LAB_FAMILIES
};

struct gro_lab_measure {
	__u32 on;
	/* Someone put other handlers in place since; these see no packets. */
	__u32 stale;
	__u32 empty_receive;	/* cycles taken off each call */
	__u32 empty_complete;
	struct gro_lab_counters counters[GRO_LAB_FAMILIES];
	__u64 resv[8];
};

#define GRO_LAB_RUN_TOTAL	0x1
#define GRO_LAB_RUN_HANDLERS	0x2

/*
 * Runs the last batch @rounds times, with what leaves GRO dropped, once for
 * each of @flags. Figures are sums over the batch, the least of all rounds;
 * a bit in @same tells that all rounds but the first agreed on it.
 */
struct gro_lab_run {
	__u32 version;
	__u32 flags;		/* 0: both */
	__u32 rounds;
	__u32 same;		/* out: GRO_LAB_RUN_* */
	__u64 packets;		/* out: seen by the handlers */
	__u64 merged;
	__u64 recv;		/* cycles */
	__u64 completes;
	__u64 complete;		/* cycles */
	__u64 segments;
	__u64 frames;
	__u64 skbs;		/* that left GRO */
	__u64 total;		/* cycles */
	__u64 resv[8];
};

/*
 * A coin for each packet: stock's handlers, as GRO_LAB_COIN_LEARN found them,
 * or those that were in front of them at GRO_LAB_COIN_ON, whose argument is the
 * seed. GRO_LAB_COIN_OFF tells how it fell.
 */
struct gro_lab_coin {
	__u64 stock;
	__u64 front;
};

#define GRO_LAB_CAN_DECRYPTED	0x1
#define GRO_LAB_CAN_POOL	0x2
#define GRO_LAB_CAN_CT		0x4
#define GRO_LAB_CAN_TC		0x8

struct gro_lab_info {
	__u32 version;
	__u32 devices;
	__u32 max_frags;
	__u32 can;		/* GRO_LAB_CAN_* */
	__u32 resv[12];
};

#define GRO_LAB_INFO		_IOR('G', 0x60, struct gro_lab_info)
#define GRO_LAB_AGAIN		_IO('G', 0x61)	/* run the last batch */
#define GRO_LAB_RUN		_IOWR('G', 0x62, struct gro_lab_run)
#define GRO_LAB_MEASURE_ON	_IO('G', 0x63)
#define GRO_LAB_MEASURE_OFF	_IO('G', 0x64)
#define GRO_LAB_MEASURE_RESET	_IO('G', 0x65)
#define GRO_LAB_MEASURE_READ	_IOR('G', 0x66, struct gro_lab_measure)
#define GRO_LAB_COIN_LEARN	_IO('G', 0x67)
#define GRO_LAB_COIN_ON		_IOW('G', 0x68, __u64)
#define GRO_LAB_COIN_OFF	_IOR('G', 0x69, struct gro_lab_coin)

/* Eat odd packets for this UDP port in GRO, see encap.c; 0: no more. */
#define GRO_LAB_EAT		_IOW('G', 0x6a, __u16)

#endif /* _GRO_LAB_H */
