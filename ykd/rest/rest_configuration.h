// SPDX-License-Identifier: Apache-2.0
#pragma once
// The active configuration as the original shows it: what was written, name by name and quantity by quantity, in the
// order and with the types of its structures; in YAML, and in JSON with the names that these have in Go. Pure.

#include <string>
#include <string_view>

#include "protocol/wire/value.h"

namespace yk::service {

/// The configuration in its own shape, of a text that was accepted: what the original's structures have, without what
/// is empty.
[[nodiscard]] wire::Value rest_configuration(std::string_view text, const std::string& checksum,
                                             const wire::Value& extra);
/// That in YAML.
[[nodiscard]] std::string configuration_yaml(const wire::Value& configuration);
/// That with the names of Go, and with the structures that Go writes though they are empty.
[[nodiscard]] wire::Value with_go_names(const wire::Value& configuration);
/// Whether the text is YAML that has no partitions, which the original allows: it changes nothing.
[[nodiscard]] bool has_no_partitions(std::string_view text);

} // namespace yk::service
