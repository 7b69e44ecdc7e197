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

#include "protocol/wire/error.h"

namespace yk::wire {

inline constexpr std::uint32_t kMaxDepth = 32;          // the envelope is level 1
inline constexpr std::uint32_t kMaxObjects = 4'000'000; // values and keys

struct ScanFault {
    WireError error;
    std::size_t offset = 0;  // of the first byte at fault; all before it is sound
    std::uint32_t pairs = 0; // of the outermost map that are sound as a whole, counted from its beginning
};

/// Nothing: the message is sound.
[[nodiscard]] std::optional<ScanFault> scan(std::string_view message);

/// One map inside a scanned message. Views the message. Whoever holds a Body need not check structure again.
class Body {
public:
    Body() noexcept = default;
    /// REQUIRES: scan() has accepted the message that `map` is a map of.
    [[nodiscard]] static Body of_scanned(std::string_view map) noexcept {
        Body body;
        body.bytes_ = map;
        return body;
    }
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

private:
    std::string_view bytes_ = "\x80"; // an empty map
};

/// A body that came without an envelope (an EncodedMap, tests): scans it.
[[nodiscard]] WireResult<Body> scan_body(std::string_view bytes);

} // namespace yk::wire
