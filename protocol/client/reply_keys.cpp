// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/reply_keys.h"

#include <array>

#include "protocol/wire/cursor.h"
#include "protocol/wire/text.h"

namespace yk::wire {

namespace {

struct ReplyKeys {
    std::string_view kind;
    std::string_view keys; // each between blanks
};

constexpr std::array kReplies{
    ReplyKeys{"Hello", " version sid bootID server resumed lastSeq rms limits features role who address granted "
                       "rmPattern "},
    ReplyKeys{"Bye", " "},
    ReplyKeys{"Ping", " bootID state now "},
    ReplyKeys{"Status",
              " state bootID version uptimeMs checksums rms counts sessions degraded schedule clock settingsReload "
              "sessionsKept maxSessions recordDirectory boots "},
    ReplyKeys{"RegisterResourceManager",
              " partitions policyGroup configChecksum streamEpoch coreState reRegistration ignoredCapabilities "
              "kept lastAck "},
    ReplyKeys{"UnregisterResourceManager", " "},
    ReplyKeys{"UpdateAllocation", " position "},
    ReplyKeys{"UpdateApplication", " position "},
    ReplyKeys{"UpdateNode", " position "},
    ReplyKeys{"UpdateConfiguration", " changed checksum partitions problems dryRun changes notFollowed wayBack "},
    ReplyKeys{"Reload", " ok settings files rms dryRun "},
    ReplyKeys{"ValidateConfiguration", " allowed reason problems changes "},
    ReplyKeys{"Poll", " streamEpoch items backlog backlogBytes congested "},
    ReplyKeys{"CallResult", " late "},
    ReplyKeys{"Sync", " position streamNext asks "},
    ReplyKeys{"RecoveryDone",
              " rmID id attempt result counts digestMatch buckets incompleteNodes quarantine quarantineTotal "
              "unusedTombstones durationMs truncated faults "},
    ReplyKeys{"RecoveryList", " items cursor "},
    ReplyKeys{"ResolveRecovery", " state "},
    ReplyKeys{"Dump", " asOf complete cursor data "},
    ReplyKeys{"Events", " InstanceUUID LowestID HighestID EventRecords NextID ContinueID lost empty "},
    ReplyKeys{"EventStream", " streamID InstanceUUID records nextID lost "},
    ReplyKeys{"Metrics", " text families complete cursor "},
    ReplyKeys{"Health", " Healthy HealthChecks At Since DaemonState "},
    ReplyKeys{"Explain", " verdict reasons details "},
    ReplyKeys{"StreamLog", " items next "},
    ReplyKeys{"Audit", " records next lost file "},
    ReplyKeys{"Step", " cycles allocations idle "},
    ReplyKeys{"Clock", " now "},
    ReplyKeys{"SetExtraConfig", " kept "},
    ReplyKeys{"McsRead",
              " items cursor item text bytes state reason position staleMs database transport relay kinds services "
              "scheduler reconcilers commands writes limits degraded "},
    ReplyKeys{"McsWatch", " resync items cursor more "},
    ReplyKeys{"McsWrite", " id name uid version position count "},
    ReplyKeys{"Shutdown", " "},
};

bool has_key(std::string_view keys, std::string_view key) {
    for (std::size_t at = keys.find(key); at != std::string_view::npos; at = keys.find(key, at + 1))
        if (keys[at - 1] == ' ' && keys[at + key.size()] == ' ') return true;
    return false;
}

std::optional<std::string> unknown_key(std::string_view keys, Body body) {
    Cursor cursor{body};
    for (std::uint32_t left = cursor.map(); left != 0; --left) {
        const std::string_view key = cursor.text();
        const bool is_word = !key.empty() && key.find(' ') == std::string_view::npos;
        if (!is_word || !has_key(keys, key)) return std::string{shown_key(key)};
        cursor.skip();
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> unknown_reply_key(std::string_view kind, Body body) {
    for (const ReplyKeys& reply : kReplies)
        if (reply.kind == kind) return unknown_key(reply.keys, body);
    return std::nullopt;
}

} // namespace yk::wire
