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

using Sid = std::array<std::uint8_t, 16>;
[[nodiscard]] std::string_view bytes_of(const Sid& sid) noexcept;
/// Nothing: not 16 bytes.
[[nodiscard]] std::optional<Sid> make_sid(std::string_view bytes) noexcept;

/// What a reply repeats of its request; what could not be read is 1, empty, 0.
struct Echo {
    std::uint64_t v = kVersion;
    std::string kind;
    std::uint64_t id = 0;
};

// --- requests -------------------------------------------------------------------------------------------------------

/// A request whose bytes and envelope keys are in order. Views the message it was decoded from.
struct RequestEnvelope {
    std::uint64_t v = 0;
    std::string_view kind;
    std::uint64_t id = 0;
    std::optional<Sid> sid; // always there but for Hello
    std::optional<std::uint64_t> seq;
    std::uint32_t ttl_ms = kDefaultTtlMs; // cut to kMaxTtlMs
    Body body;                            // an empty map when absent

    [[nodiscard]] Echo echo() const { return {v, std::string{kind}, id}; }
};

struct RequestFault {
    WireError error;
    Echo echo;
};

/// Bytes (E_DECODE, E_LIMIT), then envelope keys (E_TYPE, E_MISSING_FIELD, E_INVALID): the first two steps of I-333.
/// Does not allocate when the message is in order.
[[nodiscard]] Result<RequestEnvelope, RequestFault> decode_request(std::string_view message);

struct RequestHeader {
    std::uint64_t v = kVersion;
    std::string_view kind;
    std::uint64_t id = 0;
    std::optional<Sid> sid;
    std::optional<std::uint64_t> seq;
    std::optional<std::uint32_t> ttl_ms;
};

/// Appends a request; `body` is one encoded map, or empty: left out.
void encode_request(Buffer& out, const RequestHeader& header, std::string_view body);

// --- replies --------------------------------------------------------------------------------------------------------

/// What a reply with ok = false says.
struct ErrorReply {
    si::ErrorCode code = si::ErrorCode::Internal;
    std::string message;
    std::string path;
    std::optional<std::uint32_t> retry_after_ms;
    Value details; // a map, or null: none
};

/// The pieces of a reply around its body, so that a body that exists already is not copied: `head`, body.
void encode_ok_head(Buffer& out, const Echo& echo, bool dup = false);
/// A whole reply with an encoded body (one map).
void encode_ok(Buffer& out, const Echo& echo, std::string_view body, bool dup = false);
void encode_ok(Buffer& out, const Echo& echo, const Value& body, bool dup = false);
/// Name and retryable follow from the code.
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
    std::optional<Err> err; // exactly when not ok
};

/// `strict`: an unknown key is E_INVALID (I-312).
[[nodiscard]] WireResult<ReplyEnvelope> decode_reply(std::string_view message, bool strict = false);

// --- items of the callback stream (4.8)
// -------------------------------------------------------------------------------

struct ItemHeader {
    std::uint64_t n = 0;
    std::string_view kind;
    std::int64_t at_ns = 0;
    std::optional<std::uint64_t> call;
    std::optional<std::uint32_t> ttl_ms;
};

/// Appends one Item with its encoded body (one map).
void encode_item(Packer& out, const ItemHeader& header, std::string_view body);

} // namespace yk::wire
