// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/metrics_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "libcore/reports/metrics.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/packer.h"
#include "ykd/process/memory_guard.h"

namespace yk::service {

/// The numbers of an RM's partitions in the making. Thread: the owner thread, then a worker.
struct MetricsService::RmNumbers {
    std::vector<PartitionNumbers> partitions;
    RmCoreCounts counts;
    bool begun = false;
    std::size_t next = 0; // the partition at work
    ViewCursor cursor;    // within that partition
};

namespace {

using RmNumbers = MetricsService::RmNumbers;
using MetricQuestion = MetricsService::MetricQuestion;

constexpr std::size_t kReplyOverhead = 4096; // bytes of a reply around its data
constexpr std::size_t kPage = 1U << 20;      // bytes of a page, when all does not fit into one reply

double cpu_seconds() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::uint64_t open_files() {
    std::error_code fault;
    std::uint64_t count = 0;
    for (auto it = std::filesystem::directory_iterator("/proc/self/fd", fault);
         !fault && it != std::filesystem::directory_iterator(); it.increment(fault))
        ++count;
    return count;
}

/// Adds the next part of the numbers, so that cycles run in between (docs/adr/0008). True: it was the last.
bool add_numbers(RmOwner& owner, RmNumbers& rm_numbers) {
    const ClusterContext* context = owner.context();
    if (context == nullptr) return true;
    if (!std::exchange(rm_numbers.begun, true))
        for (const std::string& name : context->partition_names())
            rm_numbers.partitions.push_back({context->full_name(name), {}});
    rm_numbers.counts = {context->counters().restored, owner.gateway().recovery().progress().quarantined_for};
    if (rm_numbers.next == rm_numbers.partitions.size()) return true;
    PartitionNumbers& partition = rm_numbers.partitions[rm_numbers.next];
    std::size_t budget = kChunk;
    if (const PartitionState* state = owner.read(partition.label))
        metrics_page(*state, rm_numbers.cursor, budget, partition.metrics);
    if (budget == 0) return false;
    rm_numbers.cursor = {};
    return ++rm_numbers.next == rm_numbers.partitions.size();
}

/// Writes a page as large as was asked for; else everything when it fits into one reply, and a small page when not, as
/// a large one would take its memory several times.
template <class Writer>
Writer page_of(const MetricQuestion& question, const MetricNumbers& numbers, std::size_t most) {
    const auto write = [&](std::size_t bytes) {
        Writer writer(question.view.prefix, {question.view.start, bytes}, question.view.names);
        write_families(writer, numbers);
        return writer;
    };
    if (question.max_bytes != 0) return write(std::min(most, question.max_bytes));
    if (question.view.start == 0)
        if (Writer whole = write(most); !whole.next()) return whole;
    return write(std::min(most, kPage));
}

/// Answers with a page of text, which is not copied before it is sent.
void answer_text(Call& call, std::string_view text, const Value& rest) {
    wire::Buffer before, after;
    wire::Packer head{before}, tail{after};
    head.map(1 + rest.size());
    head.key("text");
    head.text_head(text.size());
    for (const auto& [key, value] : rest.items()) {
        tail.text(key);
        wire::encode_value(tail, value);
    }
    call.ok_parts(std::array{before.view(), text, after.view()});
}

} // namespace

MetricNumbers MetricsService::read_numbers(const Call& call, std::vector<PartitionNumbers> partitions,
                                           const CoreCounts& counts) const {
    MetricNumbers numbers;
    numbers.partitions = std::move(partitions);
    for (const RmPtr& rm : parts_.rms.all()) {
        if (!call.session->may_see(rm->id)) continue;
        const auto known = counts.find(rm->id);
        numbers.rms.push_back({rm->id, rm->owner.state(), rm->owner.inbound_elements(), rm->owner.stream().status(),
                               rm->owner.call_tally(), known == counts.end() ? RmCoreCounts{} : known->second,
                               rm->owner.state_record().transitions});
    }
    for (const std::string& id : new_rms(parts_.settings.known_rms, parts_.rms))
        if (call.session->may_see(id) && !parts_.rms.find(id)) numbers.new_rms.push_back(id);
    numbers.gone_transitions = parts_.rms.removed_transitions();
    numbers.tally = parts_.tally.read();
    numbers.events_processed = parts_.ring.next_id();
    numbers.requests = parts_.requests.read();
    numbers.sessions = parts_.sessions.count();
    for (const auto& [reason, count] : parts_.degraded.counts())
        numbers.degraded.emplace_back(reason, static_cast<std::uint64_t>(count));
    numbers.version = parts_.identity.version;
    numbers.boots = parts_.state.boots();
    numbers.resident = resident_memory();
    numbers.heap = heap_in_use();
    numbers.files = open_files();
    numbers.cpu = cpu_seconds();
    numbers.started = static_cast<double>((real_now() - parts_.identity.uptime()).ns) / 1e9;
    numbers.legacy_queues = parts_.settings.legacy_queue_metrics;
    return numbers;
}

void MetricsService::answer(const CallPtr& call, const MetricQuestion& question,
                            const std::shared_ptr<const MetricNumbers>& numbers) {
    const std::size_t most = call->reply_limit() - kReplyOverhead;
    if (question.view.as_map) {
        auto values = page_of<MetricValues>(question, *numbers, most);
        Value reply = go_on_at(*call, question, numbers, values.next());
        reply["families"] = values.take();
        call->ok(reply);
    } else {
        const auto text = page_of<MetricText>(question, *numbers, most);
        answer_text(*call, text.text(), go_on_at(*call, question, numbers, text.next()));
    }
}

/// What says where the next page is.
Value MetricsService::go_on_at(const Call& call, const MetricQuestion& question,
                               const std::shared_ptr<const MetricNumbers>& numbers, std::optional<std::size_t> next) {
    if (!next) {
        parts_.pages.end(call.session->sid, question.cursor);
        return Value::object();
    }
    MetricView rest = question.view;
    rest.start = *next;
    return {{"complete", false},
            {"cursor", parts_.pages.keep({call.session->sid, call.session->grant.name}, {numbers, std::move(rest)},
                                         question.cursor)}};
}

void MetricsService::answer_gathered(const CallPtr& call, const MetricQuestion& question,
                                     std::vector<Gathered<RmNumbers>>&& all) {
    std::vector<PartitionNumbers> partitions;
    CoreCounts counts;
    for (auto& [rm, rm_numbers] : all) {
        counts[rm->id] = rm_numbers.counts;
        for (PartitionNumbers& one : rm_numbers.partitions) {
            if (one.metrics.queues.empty()) continue;
            join_kept(one.metrics);
            one.is_visible = call->session->may_see(rm->id);
            partitions.push_back(std::move(one));
        }
    }
    if (question.unlabelled && partitions.size() == 1) partitions.front().label.clear(); // (I-511)
    auto numbers = std::make_shared<MetricNumbers>(read_numbers(*call, std::move(partitions), counts));
    parts_.ask_mcs([this, call, question, numbers](std::optional<McsNumbers> mcs) {
        numbers->mcs = std::move(mcs);
        parts_.workers.post(source_of(*call), [this, call, question, numbers] { answer(call, question, numbers); });
    });
}

void MetricsService::metrics(const CallPtr& call) {
    const auto request = call->decode<si::MetricsRequest>();
    if (!request) return;
    const std::string& format = request->format;
    if (!format.empty() && format != "text" && format != "map")
        return call->fail(ErrorCode::Invalid, "format is text or map", "format");
    const bool as_original = request->names == "original";
    if (!request->names.empty() && !as_original && request->names != "own")
        return call->fail(ErrorCode::Invalid, "names is original or own", "names");
    MetricQuestion question;
    question.view = {request->prefix, format == "map",
                     request->names == "own" ? MetricNames::Own : MetricNames::Original};
    question.cursor = request->cursor;
    question.max_bytes = request->max_bytes;
    question.unlabelled = as_original || parts_.settings.legacy_labels;
    if (!question.cursor.empty()) {
        const auto found = parts_.pages.find(call->session->sid, question.cursor);
        if (!found)
            return call->fail(ErrorCode::NotFound, "the cursor is unknown or older than 30 s; start again without",
                              "cursor");
        question.view = found->view;
        return answer(call, question, found->numbers);
    }
    gather_in_chunks<RmNumbers>(parts_.workers, parts_.rms.all(), add_numbers,
                                [this, call, question](std::vector<Gathered<RmNumbers>>&& all) {
                                    answer_gathered(call, question, std::move(all));
                                });
}

} // namespace yk::service
