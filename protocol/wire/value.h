// SPDX-License-Identifier: Apache-2.0
#pragma once
// Value: a message body as a generic tree, for the kinds where speed does not matter and for clients. Byte strings are
// Value::binary; map order is kept, so that what is printed stands in the order of the specification.

#include <nlohmann/json.hpp>

namespace yk::wire {

using Value = nlohmann::ordered_json;

} // namespace yk::wire

extern template class nlohmann::basic_json<nlohmann::ordered_map>; // in value.cpp, once for all who include this
