// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random bytes from the kernel, which nobody can guess, for session ids and boot ids (I-322, I-260). Thread: any.

#include <array>
#include <cstdint>
#include <string>

namespace yk::service {

using Bytes16 = std::array<std::uint8_t, 16>;

[[nodiscard]] Bytes16 random_bytes();
/// The bytes as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
[[nodiscard]] std::string uuid_text(const Bytes16& bytes);

} // namespace yk::service
