// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Records in which state each ACK finds a sender, at the sockets of chosen network namespaces.

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	u8 in6_u[16];
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
};

struct sk_buff;

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u32 icsk_rto;
	u8 icsk_ca_state : 5;
	u8 icsk_backoff;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 srtt_us;
	u32 mdev_us;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 total_retrans;
	u32 write_seq;
	u32 snd_nxt;
	u64 bytes_acked;
};

#pragma clang attribute pop

// linux/socket.h
#define AF_INET6 10
#define RING_BYTES (1 << 22)

// __init__.py reads it.
struct ack {
	u64 at_ns;
	u64 pacing_bytes_per_second;
	u64 bytes_acked;
	u32 network;
	u32 cwnd;
	u32 ssthresh;
	u32 srtt_us;
	u32 mdev_us;
	u32 timeout_jiffies;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 total_retrans;
	u32 not_sent;
	u16 family;
	u16 local_port;
	// In the order of the network.
	u16 remote_port;
	u8 backoff;
	u8 congestion_state;
	u8 local[16];
	u8 remote[16];
};

// The network namespaces to look at.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u32);
} networks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} acks SEC(".maps");

// How many found no room.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} lost SEC(".maps");

SEC("tp_btf/tcp_probe") int BPF_PROG(arrives, struct sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct inet_connection_sock *icsk;
	struct sock_common *common;
	struct ack ack = {};
	u32 network, first = 0;
	u64 *count;

	if (!tp)
		return 0;
	icsk = &tp->inet_conn;
	common = &icsk->icsk_inet.sk.__sk_common;
	network = common->skc_net.net->ns.inum;
	if (!bpf_map_lookup_elem(&networks, &network))
		return 0;
	// Where nothing is in flight, it acknowledges nothing.
	if (!tp->packets_out)
		return 0;
	ack.at_ns = bpf_ktime_get_ns();
	ack.pacing_bytes_per_second = icsk->icsk_inet.sk.sk_pacing_rate;
	ack.bytes_acked = tp->bytes_acked;
	ack.network = network;
	ack.cwnd = tp->snd_cwnd;
	ack.ssthresh = tp->snd_ssthresh;
	ack.srtt_us = tp->srtt_us;
	ack.mdev_us = tp->mdev_us;
	ack.timeout_jiffies = icsk->icsk_rto;
	ack.packets_out = tp->packets_out;
	ack.sacked_out = tp->sacked_out;
	ack.lost_out = tp->lost_out;
	ack.retrans_out = tp->retrans_out;
	ack.total_retrans = tp->total_retrans;
	ack.not_sent = tp->write_seq - tp->snd_nxt;
	ack.family = common->skc_family;
	ack.local_port = common->skc_num;
	ack.remote_port = common->skc_dport;
	ack.backoff = icsk->icsk_backoff;
	ack.congestion_state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
	if (ack.family == AF_INET6) {
		__builtin_memcpy(ack.local, &common->skc_v6_rcv_saddr, sizeof(ack.local));
		__builtin_memcpy(ack.remote, &common->skc_v6_daddr, sizeof(ack.remote));
	} else {
		__builtin_memcpy(ack.local, &common->skc_rcv_saddr, 4);
		__builtin_memcpy(ack.remote, &common->skc_daddr, 4);
	}
	// Nobody waits: it is read now and then.
	if (bpf_ringbuf_output(&acks, &ack, sizeof(ack), BPF_RB_NO_WAKEUP) && (count = bpf_map_lookup_elem(&lost, &first)))
		__sync_fetch_and_add(count, 1);
	return 0;
}

char _license[] SEC("license") = "Dual MIT/GPL";
