// SPDX-License-Identifier: GPL-2.0-only
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "capture.h"
#include "lab.h"
#include "packet.h"

#define MTU		1500
#define LINK_SLL_HEADER	16

static void give_frame(struct capture *cap, const __u8 *bytes, size_t len)
{
	cap->frame(cap->ctx, bytes, len);
	cap->totals.fed++;
}

static void split_frame(struct capture *cap, const __u8 *bytes, size_t len,
			const struct packet_info *info)
{
	__u8 out[MTU + PACKET_MAX_L2];
	unsigned int nr = 0;
	size_t size;

	while ((size = packet_split(bytes, len, info, nr++, MTU, out)))
		give_frame(cap, out, size);
	cap->totals.split++;
}

static void take_frame(struct capture *cap, const __u8 *bytes, size_t len)
{
	struct packet_info info;

	if (len < 14) {
		cap->totals.skipped_short++;
		return;
	}
	packet_parse(bytes, len, &info);
	if (len <= info.l3 + MTU)
		give_frame(cap, bytes, len);
	else if (!cap->skip_big && packet_can_split(bytes, &info))
		split_frame(cap, bytes, len, &info);
	else
		cap->totals.skipped_big++;
}

static const __u8 from_to[12] = {
	0x02, 'l', 'a', 'b', 0, 0, 0x02, 'l', 'a', 'b', 0, 1,
};

/* The address that the cooked header has is the sender's. */
static size_t from_sll(__u8 *out, const __u8 *bytes, size_t len)
{
	if (len < LINK_SLL_HEADER)
		return 0;
	memcpy(out, from_to, 6);
	memcpy(out + 6, bytes + 6, 6);
	memcpy(out + 12, bytes + 14, len - 14);
	return len - 2;
}

/* IP without a link layer, or behind 4 bytes that name the family. */
static size_t from_ip(__u8 *out, const __u8 *bytes, size_t len, size_t skip)
{
	if (len <= skip)
		return 0;
	memcpy(out, from_to, 12);
	out[12] = bytes[skip] >> 4 == 6 ? 0x86 : 0x08;
	out[13] = bytes[skip] >> 4 == 6 ? 0xdd : 0x00;
	memcpy(out + 14, bytes + skip, len - skip);
	return 14 + len - skip;
}

static bool known_link(int link)
{
	return link == DLT_EN10MB || link == DLT_LINUX_SLL ||
	       link == DLT_RAW || link == DLT_IPV4 || link == DLT_IPV6 ||
	       link == DLT_NULL || link == DLT_LOOP;
}

static size_t as_ethernet(int link, __u8 *out, const __u8 *bytes, size_t len)
{
	switch (link) {
	case DLT_LINUX_SLL:
		return from_sll(out, bytes, len);
	case DLT_NULL:
	case DLT_LOOP:
		return from_ip(out, bytes, len, 4);
	default:
		return from_ip(out, bytes, len, 0);
	}
}

/* Bytes that the capture did not keep are zero. */
static void take_packet(struct capture *cap, int link,
			const struct pcap_pkthdr *header, const __u8 *bytes)
{
	static __u8 whole[1 << 20], cooked[1 << 20];
	size_t len = header->len, kept = header->caplen;

	cap->totals.packets++;
	if (len > sizeof(whole) - 64) {
		cap->totals.skipped_big++;
		return;
	}
	if (kept < len)
		cap->totals.padded++;
	else
		kept = len;
	memcpy(whole, bytes, kept);
	memset(whole + kept, 0, len - kept);
	if (link == DLT_EN10MB)
		take_frame(cap, whole, len);
	else
		take_frame(cap, cooked, as_ethernet(link, cooked, whole, len));
}

void capture_read(struct capture *cap)
{
	char error[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(cap->file, error);
	struct pcap_pkthdr *header;
	const __u8 *bytes;
	int link, ret;

	if (!pcap)
		die("cannot read %s: %s", cap->file, error);
	link = pcap_datalink(pcap);
	cap->unknown = !known_link(link);
	if (cap->unknown && cap->allow_unknown) {
		pcap_close(pcap);
		return;
	}
	if (cap->unknown)
		die("%s: link type %d (%s) is neither Ethernet nor IP; GRO sees no such frames",
		    cap->file, link, pcap_datalink_val_to_name(link) ?:
		    "unknown");
	while ((ret = pcap_next_ex(pcap, &header, &bytes)) == 1)
		take_packet(cap, link, header, bytes);
	if (ret == PCAP_ERROR)
		fprintf(stderr, "%s ends early: %s\n", cap->file,
			pcap_geterr(pcap));
	pcap_close(pcap);
	if (!cap->totals.fed && !cap->allow_unknown)
		die("%s has no packet to feed", cap->file);
}
