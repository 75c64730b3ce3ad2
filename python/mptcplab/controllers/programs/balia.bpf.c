// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// BALIA, "balanced linked adaptation" (draft-walid-mptcp-congestion-control-04): between LIA's friendliness and OLIA's responsiveness.

#include "controller.h"

// draft section 3: x / (R X^2) * (1 + a)/2 * (4 + a)/5 with a = max(x) / x, which is (x + max) (4 x + max) / (10 X^2) of a TCP's, and
// never more than one.
ALWAYS u64 increase(struct sock *sk, struct subflows *found)
{
	u64 alone = single(&found->own), own = share(found, found->own.rate), greatest = share(found, found->greatest);

	if (found->count < 2)
		return alone;
	return smaller(alone, of_share(of_share(alone, own + greatest), 4 * own + greatest) / 10);
}

// draft section 3: w - w/2 * min(a, 3/2).
ALWAYS u32 reduce(struct sock *sk, u32 packets)
{
	u64 window = exact_window(packets, memory_of(sk)->part), lost;
	struct subflows found;

	look_around(sk, &found);
	if (found.count < 2)
		return halved(sk, packets);
	lost = of_share(window / 2, (larger(found.greatest, found.own.rate) << SHARE_BITS) / larger(found.own.rate, 1));
	lost = smaller(lost, window / 4 * 3);
	return reduced_to(sk, window - lost, 2);
}

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, increase);
}

CONTROLLER(balia, acknowledge, reduce);
