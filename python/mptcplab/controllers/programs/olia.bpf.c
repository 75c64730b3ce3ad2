// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// OLIA, "opportunistic linked increases" (draft-khalili-mptcp-congestion-control-05): traffic moves to the best paths.

#include "controller.h"

// a_r / w_r of the draft in 2^-30 packets; negative where the window is one of the largest.
ALWAYS s64 moved(struct sock *sk, struct subflows *found)
{
	u64 collected = memory_of(sk)->nothing, largest = collected;
	const struct subflow *one;

	for_each (one, found->all) {
		// Whole packets: windows that send alike are equal.
		if (one->window >> WINDOW_BITS >= found->largest)
			largest++;
		else if (one->rtt && one->quality >= found->best)
			collected++;
	}
	if (!collected)
		return 0;
	if (found->own.window >> WINDOW_BITS >= found->largest)
		return -(s64)(single(&found->own) / larger(found->count * largest, 1));
	return found->own.quality >= found->best ? single(&found->own) / larger(found->count * collected, 1) : 0;
}

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct subflows found;
	u64 window, more, part;
	s64 change;

	memory_of(sk)->since += acked;
	if (!is_limited(tp))
		return;
	acked = slow_start(sk, acked);
	if (!acked)
		return;
	look_around(sk, &found);
	more = single(&found.own);
	window = window_of(sk);
	if (found.count < 2) {
		set_window(sk, window + acked * more);
		return;
	}
	// w / R^2 / (sum of w / R)^2 is share^2 / w.
	part = share(&found, found.own.rate);
	change = (s64)acked * ((s64)of_share(of_share(more, part), part) + moved(sk, &found));
	set_window(sk, change < 0 && window < (u64)-change ? 0 : window + change);
	// Or slow start would at once undo what was taken.
	if (change < 0 && tp->snd_ssthresh > tp->snd_cwnd)
		tp->snd_ssthresh = tp->snd_cwnd;
}

ALWAYS u32 reduce(struct sock *sk, u32 packets)
{
	struct memory *memory = memory_of(sk);

	memory->since_before = memory->since;
	memory->between_before = memory->between;
	// Losses with nothing acknowledged between them are one.
	if (memory->since) {
		memory->between = memory->since;
		memory->since = 0;
	}
	return halved(sk, packets);
}

// A loss that was none leaves the runs as they were before it, and what came since.
ALWAYS void undone(struct sock *sk)
{
	struct memory *memory = memory_of(sk);

	memory->since += memory->since_before;
	memory->between = memory->between_before;
}

CONTROLLER_WITH_UNDO(olia, acknowledge, reduce, undone);
