// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// EWTCP: every subflow a TCP of its own, of less weight the more there are (Honda et al.: Multipath congestion control for shared bottleneck,
// PFLDNeT 2009). With 1/n^2 all that share a bottleneck take as much as one TCP.

#include "controller.h"

ALWAYS u64 increase(struct sock *sk, struct subflows *found)
{
	u64 count = larger(found->count, 1);

	return single(&found->own) / (count * count);
}

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, increase);
}

CONTROLLER(ewtcp, acknowledge, halved);
