// SPDX-License-Identifier: GPL-2.0-only
/*
 * labraw: a device without a MAC header, as tunnels and modems are. On such a one
 * nobody compares protocols before the handlers do. It has no NAPI: its packets
 * come through lab<n>'s, and all of them are dropped behind GRO.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include "lab.h"

static struct net_device *lab_raw;

bool lab_raw_ok(const struct gro_lab_batch *head,
		const struct gro_lab_frame *frame)
{
	return !(frame->flags & GRO_LAB_F_RAW) ||
	       !(head->flags & (GRO_LAB_B_FRAGS | GRO_LAB_B_DELIVER));
}

bool lab_is_raw(const struct net_device *netdev)
{
	return netdev == lab_raw;
}

/* Takes the Ethernet header, of which @skb has all in its head, off again. */
void lab_make_raw(struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	skb->dev = lab_raw;
	skb->protocol = eth->h_proto;
	__skb_pull(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
}

static const struct net_device_ops lab_raw_ops = {
	.ndo_start_xmit		= lab_xmit,
};

static void lab_raw_setup(struct net_device *netdev)
{
	struct lab_dev *lab = netdev_priv(netdev);

	lab->netdev = netdev;
	lab->id = GRO_LAB_DEV_RAW;
	netdev->netdev_ops = &lab_raw_ops;
	netdev->type = ARPHRD_NONE;
	netdev->mtu = ETH_DATA_LEN;
	netdev->flags = IFF_POINTOPOINT | IFF_NOARP;
}

int lab_raw_init(void)
{
	int err;

	lab_raw = alloc_netdev(sizeof(struct lab_dev), "labraw", NET_NAME_USER,
			       lab_raw_setup);
	if (!lab_raw)
		return -ENOMEM;
	rtnl_lock();
	err = register_netdevice(lab_raw);
	if (err)
		goto err_unlock;
	err = netdev_rx_handler_register(lab_raw, lab_rx, NULL);
	if (!err)
		err = dev_open(lab_raw, NULL);
	rtnl_unlock();
	if (err)
		lab_raw_exit();
	return err;

err_unlock:
	rtnl_unlock();
	free_netdev(lab_raw);
	lab_raw = NULL;
	return err;
}

/* No NAPI holds a packet of it any more. */
void lab_raw_exit(void)
{
	rtnl_lock();
	netdev_rx_handler_unregister(lab_raw);
	unregister_netdevice(lab_raw);
	rtnl_unlock();
	free_netdev(lab_raw);
	lab_raw = NULL;
}
