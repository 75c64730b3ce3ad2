// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Coupled increase: all subflows together grow as one TCP, and each halves by itself (Chen et al., after Raiciu, Handley, Wischik: Practical
// congestion control for multipath transport protocols, 2009).

#include "controller.h"

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, together);
}

CONTROLLER(inc, acknowledge, halved);
