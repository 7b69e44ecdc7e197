// SPDX-License-Identifier: Apache-2.0
#pragma once
// FakeDaemon: what an RmClient sees of a daemon: one RM, its registration and its stream. It does what it is told to,
// and keeps what was sent.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/digest/recovery_digest.h"
#include "protocol/rm/daemon_link.h"
#include "protocol/si/errors.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "tests/support/decoded.h"

namespace yk::testing {

class FakeDaemon final : public rm::DaemonLink {
public:
    using Reply = wire::CallResult<std::string>;

    // --- what happens to it ---------------------------------------------------------------------
    bool is_gone = false;
    std::vector<std::string> results;                             // of the next RecoveryDones; empty: running
    std::optional<std::pair<std::string, si::ErrorCode>> refuses; // the next request of this kind, with that
    bool fails_then = false;                                      // the recovery, when `refuses` does
    bool is_served_by_another = false;
    std::map<std::string, std::vector<si::RecoveryListItem>> has; // by kind: what it restored, whatever was sent
    wire::Value quarantine = wire::Value::array();
    std::uint64_t asks = 0; // that it has
    std::size_t page = 2;   // of its lists
    bool knows_echo = true;

    void restart() {
        ++boots_;
        ++sessions_;
        is_registered_ = false;
        has_something = false;
        items_.clear();
    }
    void lose_session() {
        ++sessions_;
        owner_ = "nobody";
    }
    /// The stream is broken: the RM is lost, with what it has.
    void lose_rm() { is_lost_ = true; }
    void take_over() { owner_ = "another"; }
    bool has_something = false;
    bool repeats = false; // every poll gets the whole stream, also what was acknowledged
    si::CoreState core = si::CoreState::New;

    void put(std::string_view kind, const wire::Value& body) {
        si::StreamItem item;
        item.n = ++last_;
        item.kind = kind;
        item.at = 77'000'000'000;
        item.body.bytes = wire::encoded_value(body);
        items_.push_back(std::move(item));
    }
    void put_state(si::CoreState from, si::CoreState to) {
        core = to;
        put("Notice",
            {{"code", "STATE"},
             {"message", "because"},
             {"details",
              {{"old", static_cast<unsigned>(from)}, {"new", static_cast<unsigned>(to)}, {"reason", "because"}}}});
    }

    // --- what came ------------------------------------------------------------------------------
    std::vector<std::string> kinds;         // of all requests but polls
    std::vector<std::string> registered_as; // ifRegistered of each registration
    std::vector<std::string> claims;        // nodes/applications/allocations/asks of each RecoveryDone
    std::vector<std::uint32_t> attempts;
    std::vector<std::pair<std::string, wire::Value>> updates; // kind and body, since they were cleared
    std::vector<std::string> listed;                          // kind/bucket of each RecoveryList
    std::uint64_t ack = 0;
    std::vector<std::uint32_t> max_items; // of each poll
    std::uint64_t epoch = 0;
    std::size_t most_in_reply = 1000;

    // --- the link -------------------------------------------------------------------------------
    std::string boot_id() const override { return "boot\n" + std::to_string(boots_); }
    std::string session_id() const override { return std::to_string(sessions_); }

    Reply call(const wire::EncodedRequest& request, std::chrono::milliseconds /*timeout*/) override {
        if (is_gone) return failure(wire::CallError::Kind::Unreachable, "nobody listens");
        if (request.kind != "Poll") kinds.emplace_back(request.kind);
        if (refuses && refuses->first == request.kind) {
            if (fails_then) core = si::CoreState::Failed;
            return refused(std::exchange(refuses, std::nullopt)->second);
        }
        if (request.kind == "RegisterResourceManager")
            return registers(*wire::decode<si::RegisterResourceManagerRequest>(*wire::scan_body(request.body)));
        if (!is_registered_) return refused(si::ErrorCode::RmUnknown);
        if (is_lost_) return refused(si::ErrorCode::ResyncRequired);
        if (request.kind == "Dump")
            return wire::encoded_value({{"complete", true}, {"data", {{{"rmID", "rm"}, {"quarantine", quarantine}}}}});
        if (request.kind == "Ping") return wire::encoded_value({{"state", static_cast<unsigned>(core)}});
        if (owner_ != session_id()) return refused(si::ErrorCode::Forbidden);
        if (request.kind == "Poll") return polls(*wire::decode<si::PollRequest>(*wire::scan_body(request.body)));
        if (request.kind == "RecoveryDone")
            return done(*wire::decode<si::RecoveryDoneRequest>(*wire::scan_body(request.body)));
        if (request.kind == "RecoveryList")
            return lists(*wire::decode<si::RecoveryListRequest>(*wire::scan_body(request.body)));
        has_something = true;
        updates.emplace_back(request.kind, wire::decoded(request));
        return wire::encoded_value({{"position", 1}});
    }

private:
    static wire::CallError failure(wire::CallError::Kind kind, std::string message) {
        wire::CallError error;
        error.kind = kind;
        error.message = std::move(message);
        return error;
    }
    static wire::CallError refused(si::ErrorCode code) {
        auto error = failure(wire::CallError::Kind::Refused, std::string{si::name(code)});
        error.code = static_cast<std::uint32_t>(code);
        error.name = si::name(code);
        error.retryable = si::is_retryable(code);
        return error;
    }

    Reply registers(const si::RegisterResourceManagerRequest& request) {
        registered_as.push_back(request.if_registered);
        const bool resumes = request.if_registered == "resume" && !is_lost_ && !is_served_by_another;
        si::RegisterResourceManagerResponse reply;
        if (!knows_echo) reply.ignored_capabilities = {"echoRequests"};
        if (is_registered_ && resumes) {
            reply.kept = true;
            reply.last_ack = ack;
        } else if (is_registered_ && request.if_registered != "drop" && has_something) {
            auto error = refused(si::ErrorCode::BusyState);
            error.details = {{"served", is_served_by_another}, {"streamEpoch", epoch}};
            return error;
        } else {
            ++epoch;
            items_.clear();
            last_ = ack = 0;
            is_registered_ = true;
            is_lost_ = has_something = false;
            core = request.recovery ? si::CoreState::Recovering : si::CoreState::Running;
        }
        owner_ = session_id();
        reply.stream_epoch = epoch;
        reply.core_state = core;
        return wire::encoded(reply);
    }

    Reply polls(const si::PollRequest& request) {
        max_items.push_back(request.max_items);
        if (request.stream_epoch != epoch) return refused(si::ErrorCode::StreamEpoch);
        if (request.ack < ack) return refused(si::ErrorCode::AckOld);
        ack = request.ack;
        while (!repeats && !items_.empty() && items_.front().n <= ack) items_.pop_front();
        si::PollReply reply;
        reply.stream_epoch = epoch;
        const std::size_t most = std::min<std::size_t>(most_in_reply, request.max_items);
        const std::size_t count = std::min(items_.size(), request.max_items > 1000 ? items_.size() : most);
        reply.items.assign(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
        reply.backlog = items_.size() - count;
        return wire::encoded(reply);
    }

    Reply done(const si::RecoveryDoneRequest& request) {
        const auto& expected = request.expected;
        claims.push_back(std::to_string(expected.nodes) + "/" + std::to_string(expected.applications) + "/" +
                         std::to_string(expected.allocations) + "/" + std::to_string(expected.asks.value_or(99)));
        attempts.push_back(request.attempt);
        if (core != si::CoreState::Recovering) return refused(si::ErrorCode::BadState);
        si::RecoveryReport report;
        report.rm_id = request.rm_id;
        report.id = request.id;
        report.attempt = request.attempt;
        report.result = "running";
        if (!results.empty()) {
            report.result = results.front();
            results.erase(results.begin());
        }
        if (report.result != "running") {
            report.counts.asks = si::RecoveryCountPair{expected.asks.value_or(0), asks};
            report.buckets = si::RecoveryBuckets{buckets("nodes"), buckets("applications"), buckets("allocations")};
        }
        if (report.result == "running") put_state(core, si::CoreState::Running);
        if (report.result == "failed") put_state(core, si::CoreState::Failed);
        put("RecoveryReport", wire::decode_value(*wire::scan_body(wire::encoded(report))));
        return wire::encoded(report);
    }

    static std::uint8_t bucket_of(const std::string& kind, const si::RecoveryListItem& item) {
        if (kind == "allocations")
            return recovery::bucket_of(item.partition_name, item.application_id, item.allocation_key);
        return recovery::bucket_of(item.partition_name, kind == "nodes" ? item.node_id : item.application_id);
    }
    si::Binary buckets(const std::string& kind) {
        recovery::Digest digest;
        for (const auto& item : has[kind]) digest.add(bucket_of(kind, item), item.hash);
        return {digest.bucket_bytes()};
    }
    /// The cursor is how many came before.
    Reply lists(const si::RecoveryListRequest& request) {
        if (request.cursor.empty())
            listed.push_back(request.kind + "/" + (request.bucket ? std::to_string(*request.bucket) : "all"));
        std::vector<si::RecoveryListItem> items;
        for (const auto& item : has[request.kind])
            if (!request.bucket || *request.bucket == bucket_of(request.kind, item)) items.push_back(item);
        const std::size_t from = request.cursor.empty() ? 0 : std::stoul(request.cursor);
        si::RecoveryListReply reply;
        for (std::size_t i = from; i < std::min(items.size(), from + page); ++i) reply.items.push_back(items[i]);
        if (from + page < items.size()) reply.cursor = std::to_string(from + page);
        return wire::encoded(reply);
    }

    unsigned boots_ = 1, sessions_ = 1;
    bool is_registered_ = false, is_lost_ = false;
    std::string owner_;
    std::deque<si::StreamItem> items_;
    std::uint64_t last_ = 0;
};

} // namespace yk::testing
