// SPDX-License-Identifier: Apache-2.0
#pragma once
// The envelope (interface.md 4.2): one msgpack map per message, around a body that stays where it is.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/wire/error.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/scan.h"
#include "protocol/wire/value.h"

namespace yk::wire {

inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kDefaultTtlMs = 10000;
inline constexpr std::uint32_t kMaxTtlMs = 120000;

/// A session id.
using Sid = std::array<std::uint8_t, 16>;
[[nodiscard]] std::string_view bytes_of(const Sid& sid) noexcept; // views `sid`
/// The session id in `bytes`; nullopt unless these are 16.
[[nodiscard]] std::optional<Sid> make_sid(std::string_view bytes) noexcept;

/// What a reply repeats of its request. Fields that could not be read have these defaults.
struct Echo {
    std::uint64_t v = kVersion;
    std::string kind;
    std::uint64_t id = 0;
};

// --- requests -------------------------------------------------------------------------------------------------------

/// A request whose bytes and envelope keys are sound. Views the message that it was decoded from.
struct RequestEnvelope {
    std::uint64_t v = 0;
    std::string_view kind;
    std::uint64_t id = 0;
    std::optional<Sid> sid; // present in every request but Hello
    std::optional<std::uint64_t> seq;
    std::uint32_t ttl_ms = kDefaultTtlMs; // milliseconds, at most kMaxTtlMs
    Body body;                            // an empty map when absent

    [[nodiscard]] Echo echo() const { return {v, std::string{kind}, id}; }
};

struct RequestFault {
    WireError error;
    Echo echo;
};

/// Checks the bytes (E_DECODE, E_LIMIT), then the envelope keys (E_TYPE, E_MISSING_FIELD, E_INVALID): the first two
/// steps of admitting a request (I-333). Does not allocate when the message is sound.
[[nodiscard]] Result<RequestEnvelope, RequestFault> decode_request(std::string_view message);

struct RequestHeader {
    std::uint64_t v = kVersion;
    std::string_view kind;
    std::uint64_t id = 0;
    std::optional<Sid> sid;
    std::optional<std::uint64_t> seq;
    std::optional<std::uint32_t> ttl_ms;
};

/// Appends a request. `body` is one encoded map; when it is empty the key is left out.
void encode_request(Buffer& out, const RequestHeader& header, std::string_view body);

// --- replies --------------------------------------------------------------------------------------------------------

/// The contents of a reply with ok = false.
struct ErrorReply {
    si::ErrorCode code = si::ErrorCode::Internal;
    std::string message;
    std::string path;
    std::optional<std::uint32_t> retry_after_ms;
    Value details; // a map, or null: none
};

/// Appends a reply up to its body, which has to follow: so a body that exists already need not be copied.
void encode_ok_head(Buffer& out, const Echo& echo, bool dup = false);
/// Appends a whole reply with an encoded body (one map).
void encode_ok(Buffer& out, const Echo& echo, std::string_view body, bool dup = false);
void encode_ok(Buffer& out, const Echo& echo, const Value& body, bool dup = false);
/// Appends an error reply. Its name and whether it is retryable follow from the code.
void encode_error(Buffer& out, const Echo& echo, const ErrorReply& error, bool dup = false);
[[nodiscard]] ErrorReply error_reply(const WireError& error);

/// A reply as a client reads it. Views the message.
struct ReplyEnvelope {
    std::uint64_t v = 0;
    std::string_view kind;
    std::uint64_t id = 0;
    bool ok = false;
    bool dup = false;
    Body body;
    struct Err {
        std::uint32_t code = 0;
        std::string name;
        std::string message;
        std::string path;
        bool retryable = false;
        std::uint32_t retry_after_ms = 0;
        Value details;
    };
    std::optional<Err> err; // present exactly when `ok` is false
};

/// With `strict` an unknown key is E_INVALID (I-312).
[[nodiscard]] WireResult<ReplyEnvelope> decode_reply(std::string_view message, bool strict = false);

// --- items of the callback stream (4.8) -----------------------------------------------------------------------------

struct ItemHeader {
    std::uint64_t n = 0;
    std::string_view kind;
    std::int64_t at_ns = 0;
    std::optional<std::uint64_t> call;
    std::optional<std::uint32_t> ttl_ms;
};

/// Appends one item with its encoded body (one map).
void encode_item(Packer& out, const ItemHeader& header, std::string_view body);

} // namespace yk::wire
