// SPDX-License-Identifier: Apache-2.0
#pragma once
// The commands mcs node create, set, drain, undrain, delete, list.

#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// `noun`: mcs.
void define_mcs_node(Command noun, Context& context);

} // namespace yk::cli
