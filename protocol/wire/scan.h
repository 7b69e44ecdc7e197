// SPDX-License-Identifier: Apache-2.0
#pragma once
// scan(): the one pass over foreign bytes that everything else relies on (I-310 to I-313, I-316).
//
// It allocates nothing that a header claims, and accepts exactly: one msgpack value, a map, with string keys that are
// unique in their map, no extension types, nothing behind it, within the limits. msgpack-cxx's parser is not used
// because its visitor sees neither the position nor what remains, which the order of faults in I-316 needs; the unit
// tests and the fuzzer compare the two.

#include <cstdint>
#include <optional>
#include <string_view>

#include "protocol/wire/body.h"
#include "protocol/wire/error.h"

namespace yk::wire {

inline constexpr std::uint32_t kMaxDepth = 32;          // the envelope is level 1
inline constexpr std::uint32_t kMaxObjects = 4'000'000; // values and keys

/// Why a message was not accepted, and how much of it is sound.
struct ScanFault {
    WireError error;
    std::size_t offset = 0;  // of the first byte at fault; all bytes before it are sound
    std::uint32_t pairs = 0; // the number of pairs at the front of the outermost map that are wholly sound
};

/// Scans a whole message; nullopt when it is sound. Costs its bytes once.
[[nodiscard]] std::optional<ScanFault> scan(std::string_view message);

/// Scans a body that came without an envelope (an EncodedMap, or in tests).
[[nodiscard]] WireResult<Body> scan_body(std::string_view bytes);

} // namespace yk::wire
