// SPDX-License-Identifier: Apache-2.0
#pragma once
// MCS as a resource manager of a whole daemon without listeners. The test is the thread of MCS.

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/wire/body_reader.h"
#include "tests/support/comes_true.h"
#include "ykd/daemon/daemon.h"
#include "ykd/mcs/core_link/core_link.h"
#include "ykd/mcs/mcs_application.h"

namespace yk::testing {

inline constexpr const char* kQueues = R"(
partitions:
  - name: default
    placementrules:
      - name: provided
        create: false
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
)";

/// A daemon whose RMs all get the queues above.
class QueuesDaemon {
public:
    explicit QueuesDaemon(const std::function<void(service::DaemonSettings&)>& change = {}) {
        REQUIRE(::mkdtemp(folder_.data()) != nullptr);
        settings_.default_config_file = folder_ + "/queues.yaml";
        write_queues(kQueues);
        if (change) change(settings_);
        made = std::make_unique<service::Daemon>(settings_, "test");
    }
    ~QueuesDaemon() {
        made.reset();
        std::filesystem::remove_all(folder_);
    }
    QueuesDaemon(const QueuesDaemon&) = delete;
    QueuesDaemon& operator=(const QueuesDaemon&) = delete;
    void write_queues(const std::string& text) const { std::ofstream{settings_.default_config_file} << text; }
    [[nodiscard]] service::RmPtr rm() const { return made->parts().rms.find("mcs"); }

    std::unique_ptr<service::Daemon> made;

private:
    std::string folder_ = "/tmp/yk.mcs.XXXXXX";
    service::DaemonSettings settings_;
};

/// What others have called on the thread of MCS.
class Calls {
public:
    void post(std::function<void()> call) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(call));
    }
    bool run() {
        std::deque<std::function<void()>> taken;
        {
            const std::lock_guard lock(mutex_);
            taken.swap(waiting_);
        }
        for (const auto& call : taken) call();
        return !taken.empty();
    }

private:
    std::mutex mutex_;
    std::deque<std::function<void()>> waiting_;
};

/// A request as the daemon would get it.
struct Sent {
    std::string kind;
    std::uint64_t seq = 0;
    std::string body;
};

struct Words {
    std::vector<std::string>& to;
    void operator()(const mcs::ApplicationAccepted& each) const { add("accepted {}", each.application_id); }
    void operator()(const mcs::ApplicationRejected& each) const {
        add("rejected {}: {}", each.application_id, each.reason);
    }
    void operator()(const mcs::ApplicationEnded& each) const { add("ended {}: {}", each.application_id, each.reason); }
    void operator()(const mcs::ReplicaPlaced& each) const {
        add("placed {} {} on {}", each.application_id, each.allocation_key, each.node_id);
    }
    void operator()(const mcs::ReplicaGone& each) const {
        add("gone {} {}: {}", each.application_id, each.allocation_key, each.reason);
    }
    void operator()(const mcs::ReplicaRejected& each) const {
        add("rejected {} {}{}: {}", each.application_id, each.allocation_key,
            each.has_no_application ? " without application" : "", each.reason);
    }
    void operator()(const mcs::ApplicationsListed& each) const {
        std::string ids;
        for (const auto& held : each.held) ids += ' ' + held.application_id;
        add("listed{}", ids);
    }
    void operator()(const mcs::NodeAccepted& each) const { add("node {}", each.node_id); }
    void operator()(const mcs::NodeRefused& each) const {
        add("node {} refused{}: {}", each.node_id, each.was_create ? ", new" : "", each.reason);
    }
    void operator()(const mcs::RecoveryAnswered& each) const {
        static constexpr const char* kResults[] = {"running", "retry", "failed"};
        add("recovery {}: {}", kResults[static_cast<std::size_t>(each.result)], each.reason);
        for (const auto& aside : each.set_aside)
            add("aside '{}' '{}' '{}'", aside.application_id, aside.allocation_key, aside.node_id);
    }
    template <class... Args>
    void add(const char* format, const Args&... args) const {
        to.push_back(fmt::format(fmt::runtime(format), args...));
    }
};

/// The link, with what it reports as lines, and with somebody between it and the daemon.
class LinkedMcs {
public:
    explicit LinkedMcs(QueuesDaemon& daemon) : give_(daemon.made->handlers().request) {
        link = std::make_unique<service::CoreLink>(
            service::CoreLink::Parts{[this](wire::Request request) { pass(std::move(request)); },
                                     [calls = calls_](auto call) { calls->post(std::move(call)); }, "mcs", 1},
            requests,
            service::CoreLink::Listener{[this] { return recovers; },
                                        [this](bool recovering, Instant) {
                                            lines.emplace_back(recovering ? "registered, recovers" : "registered");
                                            if (heard) heard();
                                        },
                                        [this](const mcs::CoreNotice& notice, Instant) {
                                            std::visit(Words{lines}, notice);
                                            if (heard) heard();
                                        },
                                        [this](const std::string& why, Instant) {
                                            lines.push_back("lost: " + why);
                                            if (heard) heard();
                                        }});
    }

    void run() {
        while (calls_->run() || (link && link->turn(service::steady_instant()))) continue;
    }
    bool comes(const std::function<bool()>& condition) {
        return comes_true([&] {
            run();
            return condition();
        });
    }
    /// Waits for a line that begins so, and returns it; it and those before it are gone then.
    std::string line(const std::string& beginning) {
        const auto find = [&] {
            return std::find_if(lines.begin(), lines.end(),
                                [&](const std::string& each) { return each.rfind(beginning, 0) == 0; });
        };
        const bool came = comes([&] { return find() != lines.end(); });
        INFO("waiting for: " << beginning << "; there is: " << fmt::format("{}", fmt::join(lines, " | "))
                             << "; trouble: " << (link ? link->trouble() : "no link"));
        CHECK(came);
        if (!came) return {};
        const auto at = find();
        std::string found = *at;
        lines.erase(lines.begin(), at + 1);
        return found;
    }
    void begin() {
        link->begin();
        REQUIRE_FALSE(line("registered").empty());
    }
    [[nodiscard]] std::vector<Sent> sent_of(const std::string& kind) const {
        std::vector<Sent> of_kind;
        std::copy_if(sent.begin(), sent.end(), std::back_inserter(of_kind),
                     [&](const Sent& each) { return each.kind == kind; });
        return of_kind;
    }

    mcs::CoreRequests requests;
    bool recovers = false;
    std::vector<std::string> lines;
    std::function<void()> heard; // called with each line, by the link
    std::vector<Sent> sent;
    /// True: it has answered or dropped the request, which does not reach the daemon.
    std::function<bool(const Sent& sent, wire::Request& request)> between;
    std::unique_ptr<service::CoreLink> link;

private:
    void pass(wire::Request request) {
        const auto envelope = wire::decode_request(request.bytes());
        REQUIRE(envelope.ok());
        sent.push_back({std::string{envelope->kind}, envelope->seq.value_or(0), std::string{envelope->body.bytes()}});
        if (!between || !between(sent.back(), request)) give_(std::move(request));
    }

    const std::function<void(wire::Request)> give_;
    std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
};

inline void refuse(wire::Request& request, si::ErrorCode code, std::optional<std::uint32_t> retry_after_ms = {}) {
    const auto envelope = wire::decode_request(request.bytes());
    wire::Buffer reply;
    wire::encode_error(reply, envelope->echo(), {code, "by the test", {}, retry_after_ms, {}});
    request.reply(reply.view());
}

/// Another client of the same daemon.
class Other {
public:
    explicit Other(QueuesDaemon& daemon)
        : session_({daemon.made->handlers().request, [calls = calls_](auto call) { calls->post(std::move(call)); }},
                   2) {}
    void does(const wire::EncodedRequest& request) {
        const std::string refusal = refusal_of(request);
        INFO(refusal);
        CHECK(refusal.empty());
    }
    /// Why it was refused; empty: it was done.
    std::string refusal_of(const wire::EncodedRequest& request) {
        std::optional<std::string> refusal;
        session_.change(request, [&](const service::CoreSession::Answer& answer, Instant) {
            refusal = answer.ok() ? std::string{} : answer.error().message + " ";
        });
        REQUIRE(comes_true([&] {
            while (calls_->run() || session_.turn(service::steady_instant())) continue;
            return refusal.has_value();
        }));
        return *refusal;
    }
    void unregister() { does(unregistration()); }
    /// For one that may register anew, or go by itself, at the same moment.
    void try_to_unregister() { refusal_of(unregistration()); }

private:
    static si::UnregisterResourceManagerRequest unregistration() {
        si::UnregisterResourceManagerRequest request;
        request.rm_id = "mcs";
        request.force = request.impersonate = true;
        return request;
    }

    std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
    service::CoreSession session_;
};

inline mcs::ChangeNode node(const std::string& id, mcs::NodeAction action) {
    return {id, "default", action, std::nullopt, {}};
}
inline mcs::ChangeNode new_node(const std::string& id, std::vector<mcs::AskReplica> placed = {}) {
    return {id, "default", mcs::NodeAction::Create, mcs::ChangeNode::Content{{}, {{"vcore", 10}}, {}},
            std::move(placed)};
}
inline mcs::AddApplication application(const std::string& id, const std::string& queue = "root.a") {
    return {id, "default", queue, "somebody", {"users"}, {{"mcs.deployment.id", "d"}}};
}
inline mcs::AskReplica ask(const std::string& key, std::int64_t vcore = 1, const std::string& app = "app") {
    return {app, "default", key, {{"vcore", vcore}}, 0};
}
inline mcs::ReleaseReplica release(const std::string& key) {
    return {"app", "default", key};
}

} // namespace yk::testing
