// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/value.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;
