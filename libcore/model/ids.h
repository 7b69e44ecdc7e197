// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ids of the domain objects: positions in the slabs of their partition.

#include "libcore/base/slab.h"

namespace yk {

struct Allocation;
struct Application;
struct AskGroup;
struct Node;
struct Reservation;
struct Shape;
struct UsageNode;

using AllocationId = Id<Allocation>;
using ApplicationId = Id<Application>;
using GroupId = Id<AskGroup>;
using NodeId = Id<Node>;
using ReservationId = Id<Reservation>;
using ShapeId = Id<Shape>;
using UsageNodeId = Id<UsageNode>;

} // namespace yk
