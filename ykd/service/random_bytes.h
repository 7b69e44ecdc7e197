#pragma once
// Unguessable bytes from the kernel: session ids, boot ids (I-322, I-260).

#include <array>
#include <cstdint>
#include <string>

namespace yk::service {

using Bytes16 = std::array<std::uint8_t, 16>;

[[nodiscard]] Bytes16 random_bytes();
/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`
[[nodiscard]] std::string uuid_text(const Bytes16& bytes);

} // namespace yk::service
