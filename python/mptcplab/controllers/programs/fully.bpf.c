// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Fully coupled: both the increase and the decrease follow the window of all subflows together (Kelly, Voice: Stability of end-to-end algorithms
// for joint routing and rate control, 2005; as Chen et al. and Wischik et al., NSDI 2011, write it).

#include "controller.h"

ALWAYS void acknowledge(struct sock *sk, u32 acked)
{
	grow(sk, acked, together);
}

CONTROLLER(fully, acknowledge, without_half);
