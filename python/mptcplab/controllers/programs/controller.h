// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What controllers share: the kernel's structures as far as they are used, the subflows of a connection, growth by fractions of a
// packet, and the repair of what the kernel takes for a threshold or a window where a program of ours did not answer.
//
// Of a structure only the members that are named here need to exist, wherever they are: the kernel finds their places (CO-RE).

#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	volatile unsigned char skc_state;
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct tcp_congestion_ops;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	void *icsk_ulp_data;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 snd_cwnd_clamp;
	u32 prior_cwnd;
	u32 srtt_us;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_subflow_context {
	struct list_head node;
	struct sock *tcp_sock;
	struct sock *conn;
};

struct mptcp_sock {
	struct list_head conn_list;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	u32 (*min_tso_segs)(struct sock *sk);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
};

#pragma clang attribute pop

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) __ksym;
extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym;
struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

#define read_only(object, type) ((type *)bpf_rdonly_cast((const void *)(object), bpf_core_type_id_kernel(type)))

// include/net/tcp.h
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_INFINITE_SSTHRESH 0x7fffffff
// Linux's own, net.ipv4.tcp_min_tso_segs.
#define LEAST_SEGMENTS 2
#define TCP_CA_CWR 2
// include/net/tcp_states.h
#define ESTABLISHED 1
#define CLOSE_WAIT 8

// For each of `all` with its number `i`, by an iterator: the verifier follows a plain loop through each of its turns.
#define for_each(one, all)                                                                           \
	for (struct bpf_iter_num it __attribute__((cleanup(bpf_iter_num_destroy))),                  \
	     *__begun __attribute__((unused)) = (bpf_iter_num_new(&it, 0, MOST_SUBFLOWS), (void)bpf_iter_num_destroy, &it); \
	     ({                                                                                      \
		     int *__i = bpf_iter_num_next(&it);                                              \
		     one = __i && *__i >= 0 && *__i < MOST_SUBFLOWS ? &(all)[*__i] : 0;              \
	     });)

#define ALWAYS static __always_inline
#define MOST_SUBFLOWS 8
// Bits behind the point: of windows in packets, of shares of a rate, of what an ACK adds to a window.
#define WINDOW_BITS 16
#define SHARE_BITS 20
#define PART_BITS 30
#define WINDOW_MOST (1ULL << 32)

// What a program keeps of a subflow, in icsk_ca_priv. Siblings read the first three words.
struct memory {
	// What the window has beyond snd_cwnd, in 2^-30 packets.
	u32 part;
	// The largest window there was.
	u32 largest;
	// Of OLIA: packets acknowledged since the last loss, between the two before, and both as they were then.
	u64 since;
	u64 between;
	u64 since_before;
	u64 between_before;
	// Always 0, which the verifier does not know: it follows sums that begin with a constant through each turn of a loop.
	u64 nothing;
};

// Repairs in a network namespace.
struct repairs {
	u64 thresholds;
	u64 windows;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct repairs);
} repairs SEC(".maps");

ALWAYS struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

ALWAYS struct memory *memory_of(struct sock *sk)
{
	return (struct memory *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

// Without a branch, each of which doubles what the verifier has to follow; for amounts below 2^63.
ALWAYS u64 larger(u64 a, u64 b)
{
	s64 less = (s64)(a - b) >> 63;

	asm("" : "+r"(less));
	return a - ((a - b) & less);
}

ALWAYS u64 smaller(u64 a, u64 b)
{
	return a + b - larger(a, b);
}

// One subflow as the others count it; all is 0 where it does not count.
struct subflow {
	// In 2^-16 packets of the subflow that asks.
	u64 window;
	// In eighths of a microsecond.
	u64 rtt;
	// Window over round-trip time, on a scale that all share.
	u64 rate;
	// Of OLIA: l / R^2, on a scale that all share.
	u64 quality;
};

struct subflows {
	struct subflow all[MOST_SUBFLOWS];
	// The one that asks.
	struct subflow own;
	// Those that count; less than two where it is alone, or has no round-trip time yet.
	u64 count;
	// All windows together, and all rates.
	u64 window;
	u64 rate;
	// The greatest rate, the largest window in whole packets, the best quality.
	u64 greatest;
	u64 largest;
	u64 best;
};

// OLIA's l / R^2: l is the longer of the run of packets since the last loss and of the one before.
ALWAYS u64 quality(u64 since, u64 between, u64 rtt)
{
	return ((larger(since, between) << SHARE_BITS) / rtt << SHARE_BITS) / rtt;
}

ALWAYS u64 exact_window(u64 packets, u32 part)
{
	u64 window = (packets << WINDOW_BITS) + (part >> (PART_BITS - WINDOW_BITS));

	return larger(smaller(window, WINDOW_MOST), 1ULL << WINDOW_BITS);
}

// Reads all subflows of the connection. Nothing holds them while we read: what is gone reads as something, and counts so once.
ALWAYS void look_around(struct sock *sk, struct subflows *found)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct inet_connection_sock *icsk = &tp->inet_conn;
	u64 least_rtt = tp->srtt_us, mss = tp->mss_cache;
	struct memory *memory = memory_of(sk);
	struct mptcp_subflow_context *context;
	struct subflow *one;
	struct list_head *node;
	struct mptcp_sock *msk;
	u64 end;

	__builtin_memset(found, 0, sizeof(*found));
	found->count = found->window = found->rate = found->greatest = found->largest = found->best = memory->nothing;
	found->own.window = exact_window(tp->snd_cwnd, memory->part);
	found->own.rtt = tp->srtt_us;
	if (!tp->is_mptcp || !found->own.rtt || !mss)
		return;
	found->own.quality = quality(memory->since, memory->between, found->own.rtt);
	context = read_only(icsk->icsk_ulp_data, struct mptcp_subflow_context);
	msk = read_only(context->conn, struct mptcp_sock);
	end = (u64)msk + bpf_core_field_offset(struct mptcp_sock, conn_list);
	node = msk->conn_list.next;
	for_each (one, found->all) {
		struct inet_connection_sock *its;
		struct tcp_sock *other;
		u64 packets, rtt;
		u32 part = 0;
		u8 state;

		if (!node || (u64)node == end)
			break;
		context = read_only((u64)node - bpf_core_field_offset(struct mptcp_subflow_context, node),
				    struct mptcp_subflow_context);
		node = context->node.next;
		other = read_only(context->tcp_sock, struct tcp_sock);
		its = &other->inet_conn;
		state = its->icsk_inet.sk.__sk_common.skc_state;
		rtt = other->srtt_us;
		if ((state != ESTABLISHED && state != CLOSE_WAIT) || !rtt)
			continue;
		packets = other->snd_cwnd;
		// In recovery its window is in motion: it counts as it will end.
		if (BPF_CORE_READ_BITFIELD(its, icsk_ca_state) >= TCP_CA_CWR)
			packets = other->snd_ssthresh;
		if (its->icsk_ca_ops == icsk->icsk_ca_ops) {
			part = (u32)its->icsk_ca_priv[0];
			one->quality = quality(its->icsk_ca_priv[1], its->icsk_ca_priv[2], rtt);
		}
		one->rtt = rtt;
		one->window = smaller(exact_window(packets, part) * other->mss_cache / mss, WINDOW_MOST);
		least_rtt = smaller(least_rtt, rtt);
	}
	// Rates on the scale of the window with the least round-trip time: so they need no more than 64 bits.
	for_each (one, found->all) {
		if (!one->rtt)
			continue;
		one->rate = one->window * ((least_rtt << SHARE_BITS) / one->rtt) >> SHARE_BITS;
		found->rate += one->rate;
		found->window += one->window;
		found->greatest = larger(found->greatest, one->rate);
		found->largest = larger(found->largest, one->window >> WINDOW_BITS);
		found->best = larger(found->best, one->quality);
		found->count++;
	}
	found->own.rate = found->own.window * ((least_rtt << SHARE_BITS) / found->own.rtt) >> SHARE_BITS;
	found->rate = larger(found->rate, 1);
}

// What part of the rate of all it is, in 2^-20.
ALWAYS u64 share(const struct subflows *found, u64 rate)
{
	return (rate << SHARE_BITS) / found->rate;
}

// What an acknowledged packet adds to a TCP's window: RFC 5681 eq. (3), in 2^-30 packets.
ALWAYS u64 single(const struct subflow *one)
{
	return (1ULL << (PART_BITS + WINDOW_BITS)) / larger(one->window, 1ULL << WINDOW_BITS);
}

ALWAYS u64 of_share(u64 amount, u64 share)
{
	return amount * share >> SHARE_BITS;
}

// The window for a number of packets and a part of one, with what is beyond whole packets kept.
ALWAYS void set_window(struct sock *sk, u64 window)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct memory *memory = memory_of(sk);
	u64 packets = window >> PART_BITS;

	if (packets < 1)
		packets = 1;
	tp->snd_cwnd = smaller(packets, tp->snd_cwnd_clamp);
	memory->part = window & ((1U << PART_BITS) - 1);
	memory->largest = larger(memory->largest, tp->snd_cwnd);
}

ALWAYS u64 window_of(struct sock *sk)
{
	return ((u64)tcp_sk(sk)->snd_cwnd << PART_BITS) + memory_of(sk)->part;
}

// tcp_is_cwnd_limited: whether the window held the sender back.
ALWAYS bool is_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

// Slow start; gives what remains of the packets for congestion avoidance.
ALWAYS u32 slow_start(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct memory *memory = memory_of(sk);

	if (tp->snd_cwnd < tp->snd_ssthresh)
		acked = tcp_slow_start(tp, acked);
	memory->largest = larger(memory->largest, tp->snd_cwnd);
	return acked;
}

// The window after a loss, of which the kernel takes whole packets; what is beyond is kept for when recovery has ended.
ALWAYS u32 reduced_to(struct sock *sk, u64 window, u32 least)
{
	u64 packets = window >> WINDOW_BITS;

	memory_of(sk)->part = packets < least ? 0 : (window << (PART_BITS - WINDOW_BITS)) & ((1U << PART_BITS) - 1);
	return larger(packets, least);
}

// --- What the kernel takes for an answer where a program did not run: now and then, from Linux 6.18 at least, it calls ssthresh() or
// undo_cwnd() and takes what happens to be there for what they return. Such a value is no window that there has ever been.

ALWAYS bool is_garbage(struct sock *sk, u32 packets)
{
	return packets > 2 * (u64)memory_of(sk)->largest + 100;
}

ALWAYS void count_repair(struct sock *sk, u64 thresholds, u64 windows)
{
	u32 key = sk->__sk_common.skc_net.net->ns.inum;
	struct repairs *known = bpf_map_lookup_elem(&repairs, &key);
	struct repairs first = { thresholds, windows };

	if (known) {
		__sync_fetch_and_add(&known->thresholds, thresholds);
		__sync_fetch_and_add(&known->windows, windows);
	} else {
		bpf_map_update_elem(&repairs, &key, &first, BPF_ANY);
	}
}

// Mends the threshold, as a loss in a window of `prior_cwnd` would have it by `reduce`, and the window.
#define mend(sk, reduce)                                                                             \
	({                                                                                           \
		struct tcp_sock *__tp = tcp_sk(sk);                                                  \
		if (__tp->snd_ssthresh != TCP_INFINITE_SSTHRESH && is_garbage(sk, __tp->snd_ssthresh)) { \
			__tp->snd_ssthresh = reduce(sk, larger(__tp->prior_cwnd, 2));                \
			count_repair(sk, 1, 0);                                                      \
		}                                                                                    \
		if (is_garbage(sk, __tp->snd_cwnd)) {                                                \
			__tp->snd_cwnd = larger(smaller(__tp->prior_cwnd, memory_of(sk)->largest), 2); \
			count_repair(sk, 0, 1);                                                      \
		}                                                                                    \
	})

ALWAYS void nothing_undone(struct sock *sk)
{
}

ALWAYS void begin(struct sock *sk)
{
	struct memory *memory = memory_of(sk);

	__builtin_memset(memory, 0, sizeof(*memory));
	memory->largest = larger(tcp_sk(sk)->snd_cwnd, 10);
}

// A window of so many packets, halved.
ALWAYS u32 halved(struct sock *sk, u32 packets)
{
	return reduced_to(sk, exact_window(packets, memory_of(sk)->part) / 2, 2);
}

// All together as one TCP: 1 / W.
ALWAYS u64 together(struct sock *sk, struct subflows *found)
{
	return found->count < 2 ? single(&found->own) : (1ULL << (PART_BITS + WINDOW_BITS)) / larger(found->window, 1ULL << WINDOW_BITS);
}

// A window of so many packets without half of all windows. One packet remains, or the path would never be tried again.
ALWAYS u32 without_half(struct sock *sk, u32 packets)
{
	u64 window = exact_window(packets, memory_of(sk)->part), half;
	struct subflows found;

	look_around(sk, &found);
	if (found.count < 2)
		return halved(sk, packets);
	half = found.window / 2;
	return reduced_to(sk, window > half ? window - half : 0, 1);
}

// What most do with an ACK: slow start, and what remains of it adds so much per packet.
#define grow(sk, acked, increase)                                                                    \
	({                                                                                           \
		if (is_limited(tcp_sk(sk))) {                                                        \
			u32 __left = slow_start(sk, acked);                                          \
			struct subflows __found;                                                     \
			if (__left) {                                                                \
				look_around(sk, &__found);                                           \
				set_window(sk, window_of(sk) + __left * increase(sk, &__found));     \
			}                                                                            \
		}                                                                                    \
	})

// What is answered; tests answer what a kernel makes up.
#ifndef ANSWER
#define ANSWER(value) (value)
#endif

// A controller: what it does with an ACK, what a loss leaves of a window of so many packets, and what it does where the loss was none.
#define CONTROLLER(called, acknowledge, reduce) CONTROLLER_WITH_UNDO(called, acknowledge, reduce, nothing_undone)

#define CONTROLLER_WITH_UNDO(called, acknowledge, reduce, undone)                                                      \
	SEC("struct_ops/init") void BPF_PROG(called##_init, struct sock *sk)                         \
	{                                                                                            \
		begin(sk);                                                                           \
	}                                                                                            \
	SEC("struct_ops/cong_avoid") void BPF_PROG(called##_avoid, struct sock *sk, u32 ack, u32 acked) \
	{                                                                                            \
		mend(sk, reduce);                                                                    \
		acknowledge(sk, acked);                                                              \
	}                                                                                            \
	SEC("struct_ops/set_state") void BPF_PROG(called##_state, struct sock *sk, u8 state)         \
	{                                                                                            \
		mend(sk, reduce);                                                                    \
	}                                                                                            \
	/* Linux asks this before it sends: what it made up has no effect then. */                   \
	SEC("struct_ops/min_tso_segs") u32 BPF_PROG(called##_segments, struct sock *sk)              \
	{                                                                                            \
		mend(sk, reduce);                                                                    \
		return LEAST_SEGMENTS;                                                               \
	}                                                                                            \
	SEC("struct_ops/ssthresh") u32 BPF_PROG(called##_ssthresh, struct sock *sk)                  \
	{                                                                                            \
		return ANSWER(reduce(sk, tcp_sk(sk)->snd_cwnd));                                       \
	}                                                                                            \
	SEC("struct_ops/undo_cwnd") u32 BPF_PROG(called##_undo, struct sock *sk)                     \
	{                                                                                            \
		undone(sk);                                                                          \
		return larger(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);                         \
	}                                                                                            \
	SEC(".struct_ops") struct tcp_congestion_ops called = {                                      \
		.init = (void *)called##_init,                                                       \
		.cong_avoid = (void *)called##_avoid,                                                \
		.set_state = (void *)called##_state,                                                 \
		.min_tso_segs = (void *)called##_segments,                                           \
		.ssthresh = (void *)called##_ssthresh,                                               \
		.undo_cwnd = (void *)called##_undo,                                                  \
		.flags = TCP_CONG_NON_RESTRICTED,                                                    \
		.name = "mptcplab_" #called,                                                         \
	};                                                                                           \
	char _license[] SEC("license") = "Dual MIT/GPL"
