// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Coupled decrease: each subflow grows as a TCP, and one that loses gives up half of all windows together (Chen et al., after Raiciu,
// Handley, Wischik: Practical congestion control for multipath transport protocols, 2009).

#include "controller.h"

ALWAYS u64 increase(struct sock *sk, struct subflows *found)
{
	return single(&found->own);
}

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, increase);
}

CONTROLLER(dec, acknowledge, without_half);
