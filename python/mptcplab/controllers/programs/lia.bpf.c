// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// LIA, the "linked increases" of RFC 6356: as much as a single TCP on the best path, and on no path more than one.

#include "controller.h"

// RFC 6356 eq. (1) and (2): max(w / R^2) / (sum of w / R)^2, which is the greatest of share^2 / w, and never more than a TCP.
ALWAYS u64 increase(struct sock *sk, struct subflows *found)
{
	u64 linked = memory_of(sk)->nothing;
	const struct subflow *one;

	if (found->count < 2)
		return single(&found->own);
	for_each (one, found->all) {
		u64 part = share(found, one->rate);

		linked = larger(linked, of_share(of_share(single(one), part), part));
	}
	return smaller(single(&found->own), linked);
}

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, increase);
}

CONTROLLER(lia, acknowledge, halved);
