// SPDX-License-Identifier: GPL-2.0-only
/*
 * What went wrong for people with GRO, elsewhere and before: each case with the
 * packets that did it, through stock, passthrough and on. Stock is the judge. What
 * is written here as expected only guards that a case does what it is meant to.
 *
 * The numbers are those of the collection that the cases come from: A1 is the first
 * of its section A. Not all of it can be made in GRO alone: see left_out.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/frame.h"
#include "compare/compare.h"

#define TCP4 GRO_LAB_GSO_TCPV4
#define TCP6 GRO_LAB_GSO_TCPV6

/*
 * @want is one word for each skb that leaves GRO, in order: the number of segments
 * in it, and @ and the index of its first frame where the order matters. Kernels
 * that differ have words of their own: "7.3: 3; 1 1 1" is for 7.3 and for others,
 * "3|1 1 1" where it came with an update.
 * @facts are about the first skb with more than one segment, or else the first.
 */
struct named_case {
	const char *name, *source, *script, *want, *facts;
};

static const struct named_case cases[] = {
	/* A: TCP */
	{ "PSH ends an aggregate", "A1", "T4*3 T4{psh}", "4", "psh" },
	{ "PSH that does not fit comes after what is held", "A1",
	  "T4*3 T4{psh,opt=1}", "3@0 1@3" },
	{ "all PSH", "A2", "T4{psh}*6", "1 1 1 1 1 1", "normal" },
	{ "PPPoE", "A4", "+{in=pppoe} T4*3", "7.3: 3; 1 1 1" },
	{ "PPPoE, IPv6", "A4", "+{in=pppoe} T6*3", "7.3: 3; 1 1 1" },
	{ "PPPoE with ever other ACKs", "A4",
	  "+{in=pppoe} T4{ack=1} T4{ack=2} T4{ack=3}", "1 1 1" },
	{ "PPPoE sessions in turn", "A4",
	  "T4{in=pppoe,o.vni=1} T4{in=pppoe,o.vni=2} T4{in=pppoe,o.vni=1}",
	  "1 1 1" },
	{ "an ACK without data", "A5", "T4*2 T4{len=0} T4",
	  "2@0 1@2 1@3" },
	{ "ACKs only", "A5", "T4{len=0}*4", "1 1 1 1", "normal" },
	{ "ACKs only, IPv6", "A5", "T6{len=0}*4", "1 1 1 1",
	  "normal" },
	{ "GRO switched off with packets held", "A7", "T4*2 | @dev=4 T4*2",
	  "1 1 2" },
	{ "GRO switched on", "A7", "@dev=4 T4*2 | @dev=0 T4*2", "1 1 2" },
	{ "a single segment", "A8", "T4", "1", "size=0" },
	{ "untrusted aggregate", "A10",
	  "T4{gso=1200/2/3,len=1300}", "2",
	  "normal type=3 size=1200" },
	{ "untrusted aggregate behind a segment", "A10",
	  "T4{len=1200} T4{gso=1200/2/3,len=1300}", "1 2" },
	{ "a wrong checksum leaves what is held alone", "A11",
	  "+{summed=1} T4 T4{badcsum} T4", "1@1 1@0 1@2" },
	{ "a wrong checksum leaves what is held alone, IPv6", "A11",
	  "+{summed=1} T6 T6{badcsum} T6", "1@1 1@0 1@2" },
	{ "other option bytes of the same length", "A13",
	  "+{optlen=32,opt=9} T4*3 T4{opt=10}", "3@0 1@3" },
	{ "one other option byte", "A13",
	  "+{optlen=32,opt=9} T4*3 T4{optflip=29}", "3@0 1@3" },
	{ "CWR in all", "A14", "T4{cwr}*3", "7.3: 3; 1 1 1" },
	{ "CWR in the second", "A14", "T4 T4{cwr} T4",
	  "7.3: 1 1 1; 1@0 2@1" },
	{ "AccECN, all the same", "A14", "T4{reserved=1,ece}*3", "3" },
	{ "AccECN with CWR, all the same", "A14", "T4{reserved=1,cwr}*3",
	  "7.3: 3; 1 1 1" },

	/* B: IPv4 and IPv6 */
	{ "IDs that go on, DF", "B16", "T4*3", "3", "type=1" },
	{ "IDs that go on, no DF", "B16", "+{df=0} T4*3", "3", "type=1" },
	{ "the same ID, DF", "B16", "+{idstep=0} T4*3", "3", "type=9" },
	{ "the same ID, no DF", "B16", "+{idstep=0,df=0} T4*3",
	  "7.3: 3; 1 1 1" },
	{ "IDs that go on, then the same", "B16", "T4*2 T4{id=-1}", "2@0 1@2" },
	{ "the same ID, then one more", "B16", "T4 T4{id=-1} T4{id=-1}",
	  "2@0 1@2" },
	{ "IDs that go on within IPIP", "B16", "+{in=ipip} T4*3", "3",
	  "type=0x101" },
	{ "the same outer ID", "B16", "+{in=ipip,o.idstep=0} T4*3", "3" },
	{ "the same outer ID, no DF", "B16",
	  "+{in=ipip,o.idstep=0,o.nodf} T4*3", "7.3: 3; 1 1 1" },
	{ "the same inner ID", "B16", "+{in=ipip,idstep=0} T4*3", "3" },
	{ "the same inner ID, no DF", "B16", "+{in=ipip,idstep=0,df=0} T4*3",
	  "7.3: 3; 1 1 1" },
	{ "inner IDs that go on, then the same", "B16",
	  "+{in=ipip} T4*2 T4{id=-1}", "2 1" },
	{ "DF, then none", "B17", "T4*2 T4{df=0}", "2@0 1@2" },
	{ "destination options", "B19", "+{dstopt} T6*3", "3", "type=0x10" },
	{ "destination options that differ", "B19",
	  "+{dstopt} T6 T6{fill=1} T6", "1 1 1" },
	{ "hop-by-hop options", "B19", "+{hbh} T6*3", "3" },
	{ "a routing header", "B19", "+{routing=3} T6*3", "3" },
	{ "chains of other lengths", "B19", "+{dstopt} T6 T6{dstopt=2} T6",
	  "1 1 1" },
	{ "authentication header", "B19", "T6{proto=51}*2", "1 1", "normal" },
	{ "IPv4 in IPv6", "B20", "+{in=4in6} T4*2", "2",
	  "type=0x201 encap" },
	{ "options in a VXLAN", "B22", "+{in=vxlan,dstopt} T6*3", "3",
	  "type=0x410 encap" },
	{ "a full IPv6 train", "B23", "T6{len=1428}*10", "10",
	  "type=0x10 size=1428" },
	{ "aggregates of hardware with other sizes", "B25",
	  "T4{gso=1448/4/1,len=5792} T4{gso=1400/4/1,len=5600}", "4 4" },
	{ "aggregates of hardware", "B25",
	  "+{gso=1448/4/1,len=5792,idstep=4} T4*3",
	  "6.1: 4 4 4; 12", "size=1448" },
	{ "aggregates of hardware, IPv6", "B25",
	  "+{gso=1428/4/0x10,len=5712} T6*3", "12",
	  "size=1428" },

	/* C: BIG TCP */
	{ "IPv6 beyond 64 KB", "C26", "@max=196608 T6{len=4096,headroom=64}*60",
	  "47 13", "big" },
	/*
	 * Not less room: stock looks for it in front of the IPv6 header, and moves
	 * the Ethernet header into it. With 2 it writes 6 bytes before the head.
	 */
	{ "IPv6 beyond 64 KB with room for a header, no more", "C26",
	  "@max=196608 T6{len=4096,headroom=8}*60", "15 15 15 15|47 13" },
	{ "IPv4 beyond 64 KB", "C26", "@max4=196608 T4{len=4096}*60",
	  "6.1: 15 15 15 15; 47 13" },
	{ "VXLAN beyond 64 KB", "C28",
	  "@max=131072 @max4=131072 +{in=vxlan} T4*60", "7.3: 60; 45 15" },
	{ "a small limit", "C28", "@max=6000 @max4=6000 T4*10", "4@0 4@4 2@8" },
	{ "a small limit, IPv6", "C28", "@max=6000 @max4=6000 T6*10", "4@0 4@4 2@8" },

	/* D: UDP tunnels */
	{ "VXLAN without checksum", "D29", "+{in=vxlan,summed=1} T4*3", "3",
	  "type=0x401 encap" },
	{ "VXLAN with a checksum, unverified", "D31",
	  "+{in=vxlan,o.csum,summed=1} T4*3", "3", "type=0x801" },
	{ "VXLAN with a wrong checksum", "D31",
	  "+{in=vxlan,o.csum,o.badcsum,summed=1} T4*3", "1 1 1", "normal" },
	{ "VXLAN with a wrong inner checksum", "D31",
	  "+{in=vxlan,o.csum,badcsum,summed=1} T4*3", "1 1 1" },
	{ "GENEVE", "D32", "+{in=geneve,o.units=2} T4*3", "3", "type=0x401" },
	{ "GENEVE options that differ", "D32",
	  "+{in=geneve,o.units=2} T4{o.opt=1}*2 T4{o.opt=2}", "2 1" },
	{ "GENEVE options of other lengths", "D32",
	  "+{in=geneve} T4{o.units=2}*2 T4{o.units=3}", "2 1" },
	{ "GENEVE, OAM", "D32", "+{in=geneve,o.flip=0x80} T4*2", "1 1",
	  "normal" },
	{ "GENEVE, critical options", "D32",
	  "+{in=geneve,o.flip=0x40} T4*2", "2" },
	{ "GENEVE, another version", "D32",
	  "+{in=geneve,o.flip=0x4000} T4*2", "1 1", "normal" },
	{ "UDP aggregates at the input", "D34",
	  "U4{gso=1200/3/0x20000,len=3600}*2", "3 3",
	  "normal type=0x20000" },
	{ "UDP aggregates in a VXLAN at the input", "D34",
	  "+{in=vxlan} U4{gso=1200/3/0x20400,len=3600,encap}*2", "3 3",
	  "normal" },
	{ "heads of two kinds in one list", "D35",
	  "+{shape=1} T4 T4{head=1} T4 T4{head=1} T4*20 T4{head=1}*2", "26",
	  "members" },
	{ "outer checksum vouched for, inner wrong", "D37",
	  "+{in=vxlan,o.csum,level=0,badcsum} T4*3", "1 1 1" },
	{ "both checksums vouched for, inner wrong", "D37",
	  "+{in=vxlan,o.csum,level=1,badcsum} T4*3", "3" },
	{ "aggregates with encapsulation set", "D38",
	  "+{in=vxlan,encap,gso=1448/2/0x401,len=2896} T4*2", "2 2" },
	{ "plain aggregates with encapsulation set", "D38",
	  "+{encap,gso=1448/2/1,len=2896} T4*2", "2 2" },
	{ "ESP of nobody", "D40", "T4{proto=50}*2", "1 1", "normal" },
	{ "ESP, taken", "D40", "@settle +{in=esp} T4*2", "2", "consumed" },
	{ "ESP in UDP", "D40", "@settle +{in=espudp} T4*2", "6.1: 1 1; 2" },
	{ "a handler that takes some", "D40",
	  "U4{dport=5003} U4{dport=5003,seq=1} T4", "1 1", "consumed" },
	{ "IPComp", "D40", "T4{proto=108}*2", "1 1", "normal" },
	{ "FOU", "D41", "+{in=fou} T4*3", "3" },
	{ "FOU over IPv6", "D41", "+{in=fou,o.l3=6} T4*3", "3" },
	{ "FOU with IPIP in it", "D41", "+{in=ipip,in=fou} T4*3", "1 1 1" },
	{ "GUE", "D41", "+{in=gue} T4*3", "3" },
	{ "GUE over IPv6", "D41", "+{in=gue,o.l3=6} T6*3", "3" },
	{ "GUE, protocol 0", "D41", "+{in=gue,o.flip=0x04} T4*2", "1 1" },
	{ "GUE, protocol 255", "D41", "+{in=gue,o.flip=0xfb} T4*2", "1 1" },
	{ "GUE, header longer than the packet", "D41",
	  "+{in=gue,o.flip=0x1f00} T4{len=20,optlen=0}*2", "1 1" },
	{ "GUE with options", "D41",
	  "+{in=gue,o.units=2,o.flags=1,o.vni=0x80000000} T4*2", "1 1" },
	{ "GUE, options that are too short", "D41",
	  "+{in=gue,o.units=1,o.flags=1,o.vni=0x80000000} T4*2", "1 1" },
	{ "GUE, offsets beyond the packet", "D41",
	  "+{in=gue,o.units=2,o.opt=0xff,o.flags=1,o.vni=0x80000000} T4*2",
	  "1 1" },
	{ "gro_cells", "D43", "@entry=3 T6*3", "3" },

	/* E: UDP */
	{ "queries chained", "E44",
	  "@dev=2 +{dport=53} U6{len=60}*2 U6{len=52}", "3", "chained" },
	{ "longer query behind a shorter one", "E44",
	  "@dev=2 U6{dport=53,len=52} U6{dport=53,len=60}", "1@0 1@1" },
	{ "chained with other checksum states", "E44",
	  "@dev=2 U6{dport=53,summed=1} U6{dport=53}", "2" },
	{ "chained, all in frags, UDP", "E46", "@frags @dev=2 U4{dport=53}*2",
	  "2" },
	{ "chained, all in frags, TCP", "E46", "@frags @dev=2 T4*2", "2" },
	{ "aggregate as forwarding wants it", "E47", "@dev=1 U4{dport=53}*3",
	  "3", "type=0x20000 partial" },
	{ "at most 64 datagrams", "E49", "U4{len=100}*65", "64 1", "size=100" },
	{ "at most 64 KB of datagrams", "E49", "U4*65", "54 11", "size=1200" },
	{ "a shorter datagram ends it", "E49", "U4*2 U4{len=300} U4",
	  "3@0 1@3" },
	{ "no socket asks for it", "E49", "U4{dport=5000}*3", "1 1 1",
	  "normal" },
	{ "a socket that wants datagrams", "E49", "U4{dport=5001}*3", "1 1 1",
	  "normal" },
	{ "UDP without checksum is not held", "E50",
	  "U4 U4{nocsum} U4{id=-1}", "1@1 2@0" },

	{ "another header behind shared frags, UDP", "ours",
	  "U4{shared} U4{ttl=63}", "1 1" },
	{ "another header behind shared frags, UDP, IPv6", "ours",
	  "U6{shared} U6{ttl=63}", "1 1" },
	{ "shared frags, UDP", "ours",
	  "U4{shared} U4*2", "3", "shared" },
	{ "shared frags, UDP, IPv6", "ours",
	  "U6{shared} U6*2", "3", "shared" },
	{ "partial checksum, UDP", "ours",
	  "+{summed=4} U4*3", "3" },
	{ "partial checksum, UDP, IPv6", "ours",
	  "+{summed=4} U6*3", "3" },
	{ "partial checksum of something else, UDP", "ours",
	  "+{summed=4,early} U4*3", "3" },
	{ "partial checksum of something else, UDP, IPv6", "ours",
	  "+{summed=4,early} U6*3", "3" },
	{ "at most 64 KB of datagrams, IPv6", "ours",
	  "U6*65", "54 11" },
	{ "another header at 64 KB of datagrams", "ours",
	  "U4*54 U4{ttl=63}", "54 1" },
	{ "another header at 64 KB of datagrams, IPv6", "ours",
	  "U6*54 U6{ttl=63}", "54 1" },
	{ "datagrams up to a small limit", "ours",
	  "@max=3000 @max4=3000 U4*5", "2@0 2@2 1@4" },
	{ "datagrams up to a small limit, IPv6", "ours",
	  "@max=3000 @max4=3000 U6*5", "2@0 2@2 1@4" },
	{ "datagrams up to IPv4's limit, IPv6", "ours",
	  "@max4=3000 +{vlans=1} U6*5", "6.1: 5; 2@0 2@2 1@4" },
	{ "another header at a small limit", "ours",
	  "@max=3000 @max4=3000 U4*2 U4{ttl=63}", "2 1" },
	{ "another header at a small limit, IPv6", "ours",
	  "@max=3000 @max4=3000 U6*2 U6{ttl=63}", "2 1" },
	{ "another header at IPv4's limit", "ours",
	  "@max4=3000 +{vlans=1} U6*2 U6{ttl=63}", "2 1" },
	{ "another header of one in a tunnel", "ours",
	  "U4 U4{encap,ttl=63}", "1 1" },
	{ "another header of one in a tunnel, IPv6", "ours",
	  "U6 U6{encap,ttl=63}", "1 1" },
	{ "datagram behind a chained one", "ours",
	  "@dev=2 +{dport=53} U4 | @dev=1 U4", "1 1" },
	{ "datagram behind a chained one, IPv6", "ours",
	  "@dev=2 +{dport=53} U6 | @dev=1 U6", "1 1" },
	{ "another header behind a chained one", "ours",
	  "@dev=2 +{dport=53} U4 | @dev=1 U4{ttl=63}", "1 1" },
	{ "another header behind a chained one, IPv6", "ours",
	  "@dev=2 +{dport=53} U6 | @dev=1 U6{ttl=63}", "1 1" },
	{ "another header behind page pool", "ours",
	  "U4{head=2} U4{ttl=63}", "1 1" },
	{ "another header behind page pool, IPv6", "ours",
	  "U6{head=2} U6{ttl=63}", "1 1" },
	{ "another flow's UDP length shorter than IP's", "ours",
	  "U4 U4{flow=1,udplie=-4}", "1 1" },
	{ "another flow's UDP length shorter than IP's, IPv6", "ours",
	  "U6 U6{flow=1,udplie=-4}", "1 1" },
	{ "seventeen frags and more, UDP", "ours",
	  "U4{shape=4}*30", "30", "members" },
	{ "seventeen frags and more, UDP, IPv6", "ours",
	  "U6{shape=4}*30", "30", "members" },
	{ "heads as frags, and more, UDP", "ours",
	  "U4{shape=1}*20", "20", "members" },
	{ "heads as frags, and more, UDP, IPv6", "ours",
	  "U6{shape=1}*20", "20", "members" },
	{ "at most 64 datagrams in heads", "ours",
	  "U4{len=100,shape=1}*65", "64 1" },
	{ "at most 64 datagrams in heads, IPv6", "ours",
	  "U6{len=100,shape=1}*65", "64 1" },
	{ "the same ID, UDP", "ours",
	  "+{idstep=0,shape=1} U4*3 | +{df=0} U4{flow=1}*3", "7.3: 3 3; 1@3 1@4 3@0 1@5" },
	{ "the same ID, a shorter datagram", "ours",
	  "+{idstep=0} U4 U4{len=300} U4{flow=1,df=0} U4{flow=1,len=300,df=0}", "7.3: 2 2; 2 1 1" },
	{ "datagrams in vxlan", "ours",
	  "+{in=vxlan} U4*3", "3" },
	{ "datagrams in geneve", "ours",
	  "+{in=geneve} U4*3", "3" },
	{ "datagrams in gretap", "ours",
	  "+{in=gretap} U4*3", "3" },
	{ "datagrams in gue", "ours",
	  "+{in=gue} U4*3", "3" },
	{ "datagrams in ipip", "ours",
	  "+{in=ipip} U4*3", "3" },
	{ "datagrams in vxlan, IPv6", "ours",
	  "+{in=vxlan} U6*3", "3" },
	{ "datagrams in geneve, IPv6", "ours",
	  "+{in=geneve} U6*3", "3" },
	{ "datagrams in gretap, IPv6", "ours",
	  "+{in=gretap} U6*3", "3" },
	{ "datagrams in sit, IPv6", "ours",
	  "+{in=sit} U6*3", "3" },
	{ "chained in a VXLAN", "ours",
	  "@dev=2 +{in=vxlan,dport=53} U4*3", "3" },
	{ "chained in a VXLAN, IPv6", "ours",
	  "@dev=2 +{in=vxlan,dport=53} U6*3", "3" },
	{ "chained in GRE", "ours",
	  "@dev=2 +{in=gretap,dport=53} U4*3", "3" },
	{ "chained in GRE, IPv6", "ours",
	  "@dev=2 +{in=gretap,dport=53} U6*3", "3" },
	{ "another flow's datagram is empty", "ours",
	  "U4 U4{flow=1,len=0}", "1@1 1@0" },
	{ "another flow's datagram is empty, IPv6", "ours",
	  "U6 U6{flow=1,len=0}", "1@1 1@0" },
	{ "another header, not forwarded any more", "ours",
	  "@dev=1 +{dport=53} U4*2 | @dev=0 U4{ttl=63}", "1@2 2@0" },
	{ "another header, not forwarded any more, IPv6", "ours",
	  "@dev=1 +{dport=53} U6*2 | @dev=0 U6{ttl=63}", "1@2 2@0" },
	{ "tunnel of the same addresses between", "ours",
	  "U4{ends} T4{in=vxlan} U4{ends}", "2 1" },
	{ "tunnel of the same addresses between, IPv6", "ours",
	  "+{label=0x12345} U6{ends} T6{in=vxlan,o.l3=6} U6{ends}", "2 1" },
	{ "a shorter datagram with the same IP length", "ours",
	  "U4{len=1000} U4{len=990,lie=10}", "1 1" },
	{ "a shorter datagram with the same IP length, IPv6", "ours",
	  "U6{len=1000} U6{len=990,lie=10}", "1 1" },
	{ "chaining switched on with datagrams held", "ours",
	  "@dev=1 +{dport=53} U4*2 | @dev=3 U4*2", "2 1 1" },
	{ "chaining switched on with datagrams held, IPv6", "ours",
	  "@dev=1 +{dport=53} U6*2 | @dev=3 U6*2", "2 1 1" },
	{ "a datagram as long as an aggregate that is held", "ours",
	  "U4{gso=1200/3/0x20000,len=3600} U4{len=3600}", "3 1" },
	{ "a datagram as long as an aggregate that is held, IPv6", "ours",
	  "U6{gso=1200/3/0x20000,len=3600} U6{len=3600}", "3 1" },
	{ "a segment of the aggregate that is held", "ours",
	  "U4{gso=1200/3/0x20000,len=3600} U4{len=1200}", "3 1" },
	{ "TOS and TTL differ as the sum does not", "ours",
	  "T4{ttl=0,tos=0} T4{ttl=255,tos=255}", "1 1" },
	{ "no checksum in a tunnel without DF", "ours",
	  "+{in=gre,o.nodf} U4 U4{nocsum} U4", "1 1 1" },
	{ "no checksum in a tunnel without DF, IPv6", "ours",
	  "+{in=gre,o.nodf} U6 U6{nocsum} U6", "1 1 1" },
	{ "a tunnel's socket comes", "ours",
	  "@dev=1 +{dport=5004} U4*2 | @dev=0x21 U4", "1@2 1@0" },
	{ "a tunnel's socket comes, IPv6", "ours",
	  "@dev=1 +{dport=5004} U6*2 | @dev=0x21 U6", "1@2 1@0" },
	{ "a tunnel's socket comes, another header", "ours",
	  "@dev=1 +{dport=5004} U4*2 | @dev=0x21 U4{ttl=63}", "1@2 1@0" },
	{ "a tunnel's socket comes, another header, IPv6", "ours",
	  "@dev=1 +{dport=5004} U6*2 | @dev=0x21 U6{ttl=63}", "1@2 1@0" },

	/* F: drivers, heads, flags */
	{ "zero copy", "F55", "T4{zerocopy}*2", "1 1" },
	{ "zero copy behind a segment", "F55", "T4 T4{zerocopy}", "1 1" },
	{ "shared frags, kept in mind", "F56", "T4 T4{shared}", "2",
	  "shared" },
	{ "shared frags, of the first", "F56", "T4{shared} T4", "2",
	  "shared" },
	{ "shared frags of chained packets", "F56",
	  "@dev=2 U4{dport=53} U4{dport=53,shared}", "2", "shared" },
	{ "generic XDP attached with packets held", "F58",
	  "T4*2 | @dev=0x80 T4*2", "1 1 2" },
	{ "generic XDP detached", "F58", "@dev=0x80 T4*2 | @dev=0 T4*2",
	  "1 1 2" },
	{ "page pool and other pages", "F59", "T4{head=2}*2 T4{head=0}",
	  "2 1", "recycle" },
	{ "copybreak behind page pool", "F59",
	  "T4{head=2}*2 T4{head=1,shape=1}", "2 1" },
	{ "page pool heads", "F59", "T4{head=2,shape=1}*3", "3" },
	{ "all in frags, 64 bytes first", "F62",
	  "@frags +{frag0=64} T4*3", "3" },
	{ "all in frags, 100 bytes first", "F62",
	  "@frags +{frag0=100} T4*3", "3" },
	{ "all in frags, all in the first", "F62", "@frags T4{shape=1}*3",
	  "3" },
	{ "first frag shorter than the headers", "F62",
	  "@frags +{frag0=40} T4*3", "3" },
	{ "first frag just as long as the headers", "F62",
	  "@frags +{frag0=66} T4*3", "3" },
	{ "first frag just as long as the headers, IPv6", "F62",
	  "@frags +{frag0=86} T6*3", "3" },
	{ "headroom from packet to packet", "F64",
	  "T4{headroom=64} T4{headroom=128} T4{headroom=256}", "3",
	  "partial" },
	{ "a right IPv4 checksum", "F65", "T4*5", "5", "ipcsum" },
	{ "a wrong IPv4 checksum", "F65", "T4{badip}*2", "1 1", "normal" },
	{ "a frag_list behind a segment", "F73", "T4 T4{shape=5}", "1@0 1@1" },
	{ "a frag_list behind a chained packet", "F73",
	  "@dev=2 T4 T4{shape=5}", "1@0 1@1" },
	{ "hardware's aggregate behind a chained packet", "F74",
	  "@dev=2 T4 T4{gso=1448/2/1,len=2896}", "3" },

	/* G: what nobody reported */
	{ "URG in the second", "G1", "T4 T4{urg,urgent=5} T4", "1@0 1@1 1@2" },
	{ "SYN in a stream", "G1", "T4*2 T4{syn} T4", "2 1 1" },
	{ "RST in a stream", "G1", "T4*2 T4{rst} T4", "2 1 1" },
	{ "FIN, and data behind it", "G1", "T4*2 T4{fin} T4", "3 1" },
	{ "FIN and PSH", "G1", "T4*2 T4{fin,psh}", "3", "psh" },
	{ "another window", "G2", "T4*2 T4{win=513}*2", "2 2" },
	{ "a reserved bit", "G2", "T4*2 T4{reserved=2}*2", "2 2" },
	{ "AE", "G2", "T4*2 T4{reserved=1}*2", "2 2" },
	{ "a retransmission", "G3", "T4*3 T4{seq=-2896}", "3@0 1@3" },
	{ "a duplicate", "G3", "T4*2 T4{seq=-1448}", "2@0 1@2" },
	{ "an overlap", "G3", "T4*2 T4{seq=-1}", "2 1" },
	{ "a gap", "G3", "T4*2 T4{seq=1448}", "2 1" },
	{ "longer segments", "G4", "T4{len=1000}*2 T4{len=1448}*2", "2 2" },
	{ "a shorter segment is the last", "G4", "T4*2 T4{len=1000} T4",
	  "3 1" },
	{ "padding to 60 bytes", "G5", "T4 T4{len=0,optlen=0,trailer=6} T4",
	  "1@0 1@1 1@2" },
	{ "a trailer on a full frame", "G5", "T4 T4{trailer=4} T4", "1@0 1@1 1@2" },
	{ "IPv6 payload length too short", "G5", "T6 T6{lie=-4} T6", "1@0 1@1 1@2" },
	{ "UDP length shorter than IP's", "G5", "U4 U4{udplie=-4} U4", "1@1 1@0 1@2" },
	{ "another flow label", "G6", "T6*2 T6{label=1} T6{seq=-1448}",
	  "3@0 1@2" },
	{ "another traffic class", "G6", "T6*2 T6{tos=4} T6", "2@0 1@2 1@3" },
	{ "another hop limit", "G6", "T6*2 T6{ttl=63} T6", "2@0 1@2 1@3" },
	{ "another TTL", "ours", "T4*2 T4{ttl=63} T4", "2@0 1@2 1@3" },
	{ "another TOS", "ours", "T4*2 T4{tos=4} T4", "2@0 1@2 1@3" },
	{ "decrypted, and not", "G7", "T4{decrypted}*2 T4", "2 1" },
	{ "the same socket", "G8", "T4{sk=1}*3", "3" },
	{ "another socket", "G8", "T4{sk=1}*2 T4{sk=2} T4", "2 1 1" },
	{ "the same dst", "G8", "T4{dst=1}*3", "3" },
	{ "another dst", "G8", "T4{dst=1}*2 T4{dst=2} T4", "2 1 1" },
	{ "the same connection", "G8", "T4{ct=1}*3", "3" },
	{ "another connection", "G8", "T4{ct=1}*2 T4{ct=2} T4", "2 1 1" },
	{ "nine flows in a bucket", "G9", "T4{flows=9} T4{flow=8} T4{flow=0}",
	  "1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 2@8 1@10" },
	{ "nine flows without a hash", "G9",
	  "+{hash=0} T4{flows=9} T4{flow=8} T6{flow=9} U4{flow=9} T4{flow=0}",
	  "1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 2@8 1@10 1@11 1@12" },
	{ "a tunnel in a tunnel", "G10", "+{in=ipip,in=gre} T4*3", "1 1 1" },
	{ "a tunnel in a VXLAN", "G10", "+{in=ipip,in=vxlan} T4*3", "1 1 1" },
	{ "VLAN tags within the limit of recursion", "G10", "+{vlans=13} T4*3",
	  "3" },
	{ "VLAN tags beyond the limit of recursion", "G10", "+{vlans=14} T4*3",
	  "1 1 1" },
	{ "seventeen frags and more", "ours", "T4{shape=4}*30", "30", "members" },
	{ "one byte at a time", "ours", "T4 T4{len=1} T4{len=1}", "2@0 1@2" },
	{ "bytes, then a full segment", "ours", "T4{len=1}*3 T4", "3 1" },
	{ "VLAN tags", "ours", "T4{vlans=1}*2 T4{vlans=2}*2 T4{tag}*2", "2 2 2" },
	{ "without a MAC header", "ours", "+{raw} T4*3 T6*3", "3 3" },
	{ "of another protocol without a MAC header", "ours",
	  "T4{raw} T6{raw} T4{raw} T6{raw}", "2 2" },
	{ "TCP behind UDP of the same ports", "ours",
	  "@dev=1 +{dport=5000} U4 T4 U4 T4{id=-1}", "2 2" },
	{ "TCP behind UDP of the same ports, IPv6", "ours",
	  "@dev=1 +{dport=5000} U6 T6 U6 T6", "2 2" },
	{ "shared frags behind options", "ours", "+{dstopt} T6{shared} T6", "2" },
	{ "page pool behind options", "ours", "+{dstopt} T6{head=2} T6", "1 1" },
	{ "decrypted, and not, IPv6", "G7", "T6{decrypted}*2 T6", "2 1" },
	{ "decrypted, and not, with options", "G7",
	  "+{dstopt} T6{decrypted}*2 T6", "2 1" },
	{ "options up to 64 KB", "ours", "+{dstopt} T6*50", "45 5" },
	{ "IP in IP up to 64 KB", "ours", "+{in=ipip} T4*50", "45 5" },
	{ "IP in IP up to 64 KB, IPv6", "ours", "+{in=ip6ip6} T6*50", "45 5" },
	{ "SIT up to 64 KB", "ours", "+{in=sit} T6*50", "45 5" },
	{ "IPv4 in IPv6 up to 64 KB", "ours", "+{in=4in6} T4*50", "45 5" },
	{ "GRE up to 64 KB", "ours", "+{in=gre} T4*50", "45 5" },
	{ "GRE up to 64 KB, IPv6", "ours", "+{in=gre} T6*50", "45 5" },
	{ "IP in IP behind eight VLAN tags", "ours", "+{vlans=8,in=ipip} T4*3",
	  "3" },
	{ "SIT behind eight VLAN tags", "ours", "+{vlans=8,in=sit} T6*3", "3" },
	{ "GRE behind eight VLAN tags", "ours", "+{vlans=8,in=gre} T4*3", "3" },
	{ "GRE behind eight VLAN tags, IPv6", "ours", "+{vlans=8,in=gre} T6*3",
	  "3" },
	{ "shared frags in a tunnel", "ours", "+{in=ipip} T4{shared} T4", "2" },
	{ "shared frags in a tunnel, IPv6", "ours", "+{in=ip6ip6} T6{shared} T6",
	  "2" },
	{ "shared frags in GRE", "ours", "+{in=gre} T4{shared} T4", "2" },
	{ "shared frags in GRE, IPv6", "ours", "+{in=gre} T6{shared} T6", "2" },
	{ "page pool in a tunnel", "ours", "+{in=ipip} T4{head=2} T4", "1 1" },
	{ "IPIP, another inner host", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{host=1}", "2 1" },
	{ "IPIP, another inner port", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{dport=9}", "2 1" },
	{ "IPIP, another inner TOS", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{tos=4}", "2 1" },
	{ "IPIP, another inner TTL", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{ttl=63}", "2 1" },
	{ "IPIP, another outer host", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{o.host=1}", "2 1" },
	{ "IPIP, another outer TOS", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{o.tos=4}", "2 1" },
	{ "IPIP, another outer TTL", "ours",
	  "+{hash=0,in=ipip} T4*2 T4{o.ttl=63}", "2 1" },
	{ "SIT, another inner host", "ours",
	  "+{hash=0,in=sit} T6*2 T6{host=1}", "2 1" },
	{ "SIT, another inner port", "ours",
	  "+{hash=0,in=sit} T6*2 T6{dport=9}", "2 1" },
	{ "SIT, another inner TOS", "ours",
	  "+{hash=0,in=sit} T6*2 T6{tos=4}", "2 1" },
	{ "SIT, another inner TTL", "ours",
	  "+{hash=0,in=sit} T6*2 T6{ttl=63}", "2 1" },
	{ "SIT, another outer host", "ours",
	  "+{hash=0,in=sit} T6*2 T6{o.host=1}", "2 1" },
	{ "SIT, another outer TOS", "ours",
	  "+{hash=0,in=sit} T6*2 T6{o.tos=4}", "2 1" },
	{ "SIT, another outer TTL", "ours",
	  "+{hash=0,in=sit} T6*2 T6{o.ttl=63}", "2 1" },
	{ "4-in-6, another inner host", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{host=1}", "2 1" },
	{ "4-in-6, another inner port", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{dport=9}", "2 1" },
	{ "4-in-6, another inner TOS", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{tos=4}", "2 1" },
	{ "4-in-6, another inner TTL", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{ttl=63}", "2 1" },
	{ "4-in-6, another outer host", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{o.host=1}", "2 1" },
	{ "4-in-6, another outer TOS", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{o.tos=4}", "2 1" },
	{ "4-in-6, another outer TTL", "ours",
	  "+{hash=0,in=4in6} T4*2 T4{o.ttl=63}", "2 1" },
	{ "6-in-6, another inner host", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{host=1}", "2 1" },
	{ "6-in-6, another inner port", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{dport=9}", "2 1" },
	{ "6-in-6, another inner TOS", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{tos=4}", "2 1" },
	{ "6-in-6, another inner TTL", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{ttl=63}", "2 1" },
	{ "6-in-6, another outer host", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{o.host=1}", "2 1" },
	{ "6-in-6, another outer TOS", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{o.tos=4}", "2 1" },
	{ "6-in-6, another outer TTL", "ours",
	  "+{hash=0,in=ip6ip6} T6*2 T6{o.ttl=63}", "2 1" },
	{ "IP in IP beyond 64 KB behind eight VLAN tags", "ours",
	  "@max=131072 @max4=131072 +{vlans=8,in=ipip} T4*60",
	  "7.3: 60; 45 15" },
	{ "merged by hardware, in GRE", "ours",
	  "+{in=gre,len=1200} T4*2 T4{gso=1200/2/1,len=2400}", "4" },
	{ "merged by hardware, in GRE, IPv6", "ours",
	  "+{in=gre,len=1200} T6*2 T6{gso=1200/2/16,len=2400}", "4" },
	{ "chained in IP in IP behind eight VLAN tags", "ours",
	  "@dev=2 +{vlans=8,in=ipip} T4*2", "2" },
	{ "decrypted, and not, in a tunnel", "G7",
	  "+{in=ipip} T4{decrypted}*2 T4", "2 1" },
	{ "VXLAN over IPv6, then another TTL", "ours",
	  "+{in=vxlan,o.l3=6} T4*2 T4{ttl=128}", "2 1" },
	{ "options up to a small limit", "ours", "@max=6000 +{dstopt} T6*10",
	  "4 4 2" },
	{ "seventeen frags and more, IPv6", "ours", "T6{shape=4}*30", "30",
	  "members" },
	{ "seventeen frags and more, with options", "ours",
	  "+{dstopt} T6{shape=4}*30", "30", "members" },
	{ "options not at hand", "ours", "T4*2 T4{shape=3,linear=60}", "3" },
	{ "options not at hand, IPv6", "ours", "T6*2 T6{shape=3,linear=80}",
	  "3" },
	{ "options not at hand, with extension headers", "ours",
	  "+{dstopt} T6*2 T6{shape=3,linear=88}", "3" },
	{ "first frag without all options", "ours",
	  "@frags T4*2 T4{frag0=60}", "3" },
	{ "first frag without all options, IPv6", "ours",
	  "@frags T6*2 T6{frag0=80}", "3" },
	{ "TCP behind UDP of the same ports, with extension headers", "ours",
	  "@dev=1 +{dport=5000,dstopt} U6 T6 U6 T6", "2 2" },
	{ "extension headers in front of a tunnel", "ours",
	  "+{in=vxlan,o.l3=6,in=dstopt} T6*3", "3" },
	{ "heads as frags, and more", "ours", "T4{shape=1}*20", "20",
	  "members" },
	{ "heads as frags, and more, IPv6", "ours", "T6{shape=1}*20", "20",
	  "members" },
	{ "partial checksum", "ours", "+{summed=4} T4*3 T6*3", "3 3" },
	{ "partial checksum of something else", "ours",
	  "+{summed=4,early} T4*3 T6*3", "3 3" },
	{ "partial checksum of something else, with options", "ours",
	  "+{summed=4,early,dstopt} T6*3", "3" },
	{ "no reply to a thread", "ours", "@entry=1 T4*3 U4*2", "3 2" },
	{ "busy polling", "ours", "@entry=2 T4*3 | T4 U4*2", "4 2" },
};

/* What of the collection is no case here: b is an entry's other half. */
static const struct left_out {
	const char *source, *what, *why;
} left_out[] = {
	{ "A8b", "dropped while it is segmented", "behind GRO: downstream.sh" },
	{ "B22b", "to a device without such checksums", "likewise" },
	{ "B23b", "translated to IPv4", "by modules that are not the kernel's" },
	{ "D32b", "GENEVE's hints for GRO", "devices negotiate it with a peer" },
	{ "D35b", "segmented with another size", "BPF behind GRO, same for all" },
	{ "D43b", "ip6tnl itself", "behind GRO: downstream.sh" },
	{ "E47b", "through a flow table", "behind GRO; what it needs is a case" },
	{ "E52", "fraglist for forwarding", "figures, no packets" },
	{ "E53", "a lookup for each packet", "figures, no packets" },
	{ "F55b", "a sender with io_uring", "the flag that it leaves is a case" },
	{ "F56b", "a sender with splice()", "the flag that it leaves is a case" },
	{ "F58b", "XDP of a veth", "its own NAPI; generic XDP is a case" },
	{ "F61", "offload to a card with tunnels", "its packets are D34's, D38's" },
	{ "F67", "captures of aggregates", "gro_compare splits them" },
	{ "F68", "captures with wrong checksums", "gro_compare repairs them" },
	{ "F70", "BPF that inserts bytes", "behind GRO, same for all" },
	{ "F71", "probes on stock's functions", "no packets; see README.md" },
	{ "G7b", "PSP", "Debian's kernels are built without" },
	{ "G8b", "tc's extension", "Debian's kernels are built without" },
	{ "G11", "batches to the stack", "when packets leave GRO, not which" },
};

/* --- what stock made of it ------------------------------------------------ */

struct result {
	struct episode e;
	struct outcome stock;
	char got[512];
	const char *why;	/* not as expected */
	bool differs;
};

static const struct gro_lab_skb *skb_next(const struct outcome *out,
					  const struct gro_lab_skb *skb)
{
	const __u8 *next = skb ? (const __u8 *)skb + skb->size : out->records;

	return next < out->records + out->size ? (const void *)next : NULL;
}

static const __u8 *skb_bytes(const struct gro_lab_skb *skb)
{
	return (const __u8 *)(skb + 1) +
	       skb->nr_members * sizeof(struct gro_lab_member);
}

static unsigned int skb_segments(const struct gro_lab_skb *skb)
{
	return skb->gso_segs ? skb->gso_segs : 1;
}

/* Does its payload begin as that of a frame? */
static bool begins_as(const struct gro_lab_skb *skb, const struct episode *e,
		      unsigned int i)
{
	unsigned int len = e->pkts[i].len < 8 ? e->pkts[i].len : 8;
	unsigned int at = e->frames[i].len - e->pkts[i].len -
			  e->pkts[i].trailer;

	return len && at + len <= skb->bytes &&
	       !memcmp(skb_bytes(skb) + at, e->bytes[i] + at, len);
}

/* A frame as it came, or one that others were appended to. */
static unsigned int skb_first_frame(const struct episode *e,
				    const struct gro_lab_skb *skb)
{
	unsigned int i;

	for (i = 0; i < e->nr; i++)
		if (skb->bytes == e->frames[i].len &&
		    !memcmp(skb_bytes(skb), e->bytes[i], skb->bytes))
			return i;
	for (i = 0; i < e->nr; i++)
		if (begins_as(skb, e, i))
			return i;
	return e->nr;
}

static void describe(struct result *r)
{
	const struct gro_lab_skb *skb = NULL;
	size_t at = 0;

	while ((skb = skb_next(&r->stock, skb)) && at < sizeof(r->got) - 24)
		at += sprintf(r->got + at, "%s%u@%u", at ? " " : "",
			      skb_segments(skb), skb_first_frame(&r->e, skb));
}

/* The one of "7.3: A; 6.1: B; C" that is for this kernel. */
static const char *for_kernel(const char *text, char *copy, size_t size)
{
	const char *series = kernel_series();
	const size_t len = strlen(series);
	char *word, *save, *colon;

	snprintf(copy, size, "%s", text);
	for (word = strtok_r(copy, ";", &save); word;
	     word = strtok_r(NULL, ";", &save)) {
		word += strspn(word, " ");
		colon = strchr(word, ':');
		if (!colon)
			return word;
		if (!strncmp(word, series, len) && colon == word + len)
			return colon + 2;
	}
	return "";
}

/* Word by word; what is wanted may leave the frame out. */
static bool as_wanted_here(const char *want, const char *got)
{
	size_t n, m;

	while (*want && *want != '|' && *got) {
		n = strcspn(want, " |");
		m = strcspn(got, " ");
		if (!memchr(want, '@', n))
			m = strcspn(got, "@");
		if (n != m || memcmp(want, got, n))
			return false;
		want += n;
		got += strcspn(got, " ");
		want += strspn(want, " ");
		got += strspn(got, " ");
	}
	return (!*want || *want == '|') && !*got;
}

static bool as_wanted(const char *want, const char *got)
{
	for (; want; want = strchr(want, '|')) {
		want += *want == '|';
		if (as_wanted_here(want, got))
			return true;
	}
	return false;
}

static bool all_normal(const struct result *r)
{
	unsigned int i;

	for (i = 0; i < r->e.nr; i++)
		if (r->stock.verdicts[i] != GRO_LAB_NORMAL)
			return false;
	return true;
}

static bool any_consumed(const struct result *r)
{
	return memchr(r->stock.verdicts, GRO_LAB_CONSUMED, r->e.nr);
}

static bool has_push(const struct gro_lab_skb *skb)
{
	return skb_bytes(skb)[skb->transport_header - skb->mac_header + 13] & 8;
}

static bool has_right_ip_csum(const struct gro_lab_skb *skb)
{
	return !csum_fold(csum_add(0, skb_bytes(skb) - skb->mac_header, 20));
}

static bool fact_true(const struct result *r, const struct gro_lab_skb *skb,
		      const char *fact)
{
	unsigned long value = strtoul(fact + strcspn(fact, "=0123456789") + 1,
				      NULL, 0);

	if (!strncmp(fact, "size=", 5))
		return skb->gso_size == value;
	if (!strncmp(fact, "type=", 5))
		return skb->gso_type == value;
	if (!strcmp(fact, "normal"))
		return all_normal(r);
	if (!strcmp(fact, "consumed"))
		return any_consumed(r);
	if (!strcmp(fact, "psh"))
		return has_push(skb);
	if (!strcmp(fact, "encap"))
		return skb->encapsulation;
	if (!strcmp(fact, "partial"))
		return skb->ip_summed == GRO_LAB_CSUM_PARTIAL;
	if (!strcmp(fact, "members"))
		return skb->nr_members;
	if (!strcmp(fact, "chained"))
		return skb->gso_type & GRO_LAB_GSO_FRAGLIST;
	if (!strcmp(fact, "shared"))
		return skb->shinfo_flags & 2;
	if (!strcmp(fact, "recycle"))
		return skb->pp_recycle;
	if (!strcmp(fact, "ipcsum"))
		return has_right_ip_csum(skb);
	if (!strcmp(fact, "big"))
		return skb->len > 65536;
	die("no such fact: %s", fact);
}

/* Returns the first that is not so. */
static const char *check_facts(const struct result *r, const char *facts)
{
	const struct gro_lab_skb *skb = skb_next(&r->stock, NULL), *s = skb;
	char copy[128], *fact, *save;

	while (s && skb_segments(s) == 1)
		s = skb_next(&r->stock, s);
	if (s)
		skb = s;
	snprintf(copy, sizeof(copy), "%s", facts);
	for (fact = strtok_r(copy, " ", &save); fact;
	     fact = strtok_r(NULL, " ", &save))
		if (!skb || !fact_true(r, skb, fact))
			return strdup(fact);
	return NULL;
}

/* Returns a tunnel that the script has and this kernel nobody for. */
static const char *lacks(const char *script)
{
	bool v6 = strstr(script, "o.l3=6");
	char name[32];
	const char *at;
	size_t len;

	for (at = script; (at = strstr(at, "in=")); at += len) {
		at += strlen("in=");
		len = strcspn(at, ",}");
		snprintf(name, sizeof(name), "%.*s%s", (int)len, at,
			 v6 ? "6" : "");
		if (network_lacks(name))
			return wrap_name(wrap_find(strndup(at, len)));
	}
	return NULL;
}

static const char *judge(const struct named_case *c, struct result *r)
{
	static char copy[256];

	describe(r);
	if (!as_wanted(for_kernel(c->want, copy, sizeof(copy)), r->got))
		return c->want;
	if (c->facts)
		return check_facts(r, for_kernel(c->facts, copy,
						 sizeof(copy)));
	return NULL;
}

/* --- running -------------------------------------------------------------- */

struct options {
	bool brief, list;
	const char *names[64];
	unsigned int nr_names;
};

static void __noreturn usage(int code)
{
	fputs("Usage: cases [--list] [--brief] [NAME...]\n\n"
	      "Packets with which GRO went wrong somewhere, through gro_lab.ko with stock's\n"
	      "handlers and in all states of ours; what leaves GRO has to be the same. Also\n"
	      "that stock does with them what the case is about.\n\n"
	      "  NAME     cases with this in their name or source, instead of all\n"
	      "  --list   names, sources and packets (see compare/script.c), no more\n"
	      "  --brief  end at the first difference, without showing it; what stock does is\n"
	      "           not looked at\n\n"
	      "Exit code: 0, 1 where something differs or is not as expected.\n",
	      code ? stderr : stdout);
	exit(code);
}

static void parse(int argc, char **argv, struct options *opts)
{
	static const struct option longs[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "brief", no_argument, NULL, 'b' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (opt == 'l')
			opts->list = true;
		else if (opt == 'b')
			opts->brief = true;
		else
			usage(opt == 'h' ? 0 : 2);
	}
	for (; optind < argc; optind++) {
		if (opts->nr_names == ARRAY_SIZE(opts->names))
			usage(2);
		opts->names[opts->nr_names++] = argv[optind];
	}
}

static bool chosen(const struct named_case *c, const struct options *opts)
{
	unsigned int i;

	for (i = 0; i < opts->nr_names; i++)
		if (strstr(c->name, opts->names[i]) ||
		    !strcmp(c->source, opts->names[i]))
			return true;
	return !opts->nr_names;
}

static bool has_case(const char *source)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].source, source))
			return true;
	return false;
}

/* How much of a section there is; the cases of an entry are not in a row. */
static void count_section(char section)
{
	unsigned int i, number, nr = 0, with = 0, without = 0;
	char source[8];

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		nr += cases[i].source[0] == section;
	for (number = 1; number < 100; number++) {
		sprintf(source, "%c%u", section, number);
		with += has_case(source);
		for (i = 0; i < ARRAY_SIZE(left_out); i++)
			without += !strcmp(left_out[i].source, source);
	}
	printf("# %c: %u cases of %u entries, %u entries without\n", section,
	       nr, with, without);
}

static void count(void)
{
	const struct left_out *l;
	unsigned int i, ours = 0;
	char section;

	for (section = 'A'; section <= 'G'; section++)
		count_section(section);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		ours += !strcmp(cases[i].source, "ours");
	printf("# and %u cases of our own\n", ours);
	for (l = left_out; l < left_out + ARRAY_SIZE(left_out); l++)
		printf("# no case: %s, %s: %s\n", l->source, l->what, l->why);
}

static void list(const struct options *opts)
{
	const struct named_case *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++)
		if (chosen(c, opts))
			printf("%s (%s)\n\t%s\n\t=> %s%s%s\n", c->name,
			       c->source, c->script, c->want,
			       c->facts ? ", " : "", c->facts ? c->facts : "");
	if (!opts->nr_names)
		count();
}

static void run_mode(int fd, struct result *r, enum run_mode mode, bool brief)
{
	struct outcome ours;

	episode_run(fd, &r->e, mode, &ours);
	if (!outcome_equal(&r->stock, &ours)) {
		if (brief)
			exit(1);
		if (!r->differs)
			difference_print(fd, &r->e, mode, &r->stock, &ours);
		r->differs = true;
	}
	outcome_end(&ours);
}

/* One change of state for all cases, as it takes longer than they do. */
static void run(int fd, const struct named_case **todo, struct result *results,
		unsigned int nr, bool brief)
{
	enum run_mode mode;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		script_episode(&results[i].e, todo[i]->script);
		episode_run(fd, &results[i].e, MODE_STOCK, &results[i].stock);
		results[i].why = judge(todo[i], &results[i]);
	}
	for (mode = MODE_PASSTHROUGH; mode < MODES; mode++)
		for (i = 0; i < nr; i++)
			run_mode(fd, &results[i], mode, brief);
}

static bool report(const struct named_case *c, const struct result *r,
		   unsigned int nr)
{
	if (lacks(c->script) && !r->differs) {
		printf("ok %u %s: %s # SKIP no %s here\n", nr, c->source,
		       c->name, lacks(c->script));
		return false;
	}
	if (r->why)
		printf("# stock made '%s' of '%s', and not '%s'\n", r->got,
		       c->script, r->why);
	printf("%sok %u %s: %s\n", r->why || r->differs ? "not " : "", nr,
	       c->source, c->name);
	return r->why || r->differs;
}

int main(int argc, char **argv)
{
	const struct named_case *todo[ARRAY_SIZE(cases)];
	struct result *results = xalloc(sizeof(*results) * ARRAY_SIZE(cases));
	struct options opts = {};
	unsigned int i, nr = 0;
	int fd, failed = 0;

	parse(argc, argv, &opts);
	if (opts.list) {
		list(&opts);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (chosen(&cases[i], &opts))
			todo[nr++] = &cases[i];
	printf("TAP version 13\n1..%u\n", nr);
	fd = lab_open();
	network_setup(fd);
	network_print(stdout);
	if (nr == ARRAY_SIZE(cases))
		count();
	run(fd, todo, results, nr, opts.brief);
	for (i = 0; i < nr; i++)
		failed |= report(todo[i], &results[i], i + 1);
	return (failed && !opts.brief) || !nr;
}
