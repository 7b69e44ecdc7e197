// SPDX-License-Identifier: Apache-2.0
#include "tests/support/cluster.h"
#include "libcore/reports/snapshot.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/check.h"

namespace yk::testing {

namespace {

std::string configuration(const std::string& queues, const std::string& root, const std::string& partition) {
    return fmt::format("partitions: [{{name: default, queues: [{{name: root, submitacl: '*'{}{}, queues: {}}}]{}{}}}]",
                       root.empty() ? "" : ", ", root, queues, partition.empty() ? "" : ", ", partition);
}

} // namespace

Settings Cluster::manual_settings() {
    Settings settings;
    settings.inspect_outstanding = false;
    return settings;
}

Cluster::Cluster(const std::string& queues, const std::string& root, const std::string& partition,
                 const Settings& settings)
    : outputs_(std::make_unique<Outputs>()),
      core_(std::make_unique<ClusterContext>("rm", settings, outputs_->notices, outputs_->events)) {
    const std::string outcome = configure(queues, root, partition);
    YK_CHECK(outcome == "ok", outcome.c_str());
}

std::string Cluster::play(const std::string& text) {
    const auto command = parse_command(text);
    YK_CHECK(command.ok(), text.c_str());
    std::string outcome;
    if (command.value().kind == CommandKind::Advance)
        testing::advance(*core_, now_, std::chrono::milliseconds{command.value().count});
    else
        outcome = testing::play(*core_, command.value(), now_);
    if (++steps_ <= kAllChecked || steps_ % 30 == 0) check(text);
    return outcome;
}

void Cluster::check(const std::string& step) const {
    const auto broken = core_->check();
    YK_CHECK(broken.empty(), (step + ": " + broken.front()).c_str());
}

Cluster::~Cluster() {
    if (core_ && steps_ > kAllChecked) check("the end"); // of one that was not moved
}

Cluster& Cluster::nodes(int count, const std::string& capacity) {
    for (int i = 0; i < count; ++i) node(fmt::format("n-{}", i), capacity);
    return *this;
}

Cluster& Cluster::node(const std::string& id, const std::string& capacity, const std::string& action) {
    play(fmt::format("nodes {} id={} res={}", action, id, capacity));
    return *this;
}

Cluster& Cluster::application(const std::string& id, const std::string& queue) {
    play(fmt::format("apps new id={} queue={}", id, queue));
    return *this;
}

Cluster& Cluster::ask(const std::string& app, const std::string& key, const std::string& size,
                      const std::string& more) {
    play(fmt::format("alloc ask app={} key={} res={} {}", app, key, size, more));
    return *this;
}

Cluster& Cluster::asks(const std::string& app, int count, const std::string& size) {
    for (int i = 0; i < count; ++i) ask(app, fmt::format("{}-{}", app, i), size);
    return *this;
}

Cluster& Cluster::existing(const std::string& app, const std::string& key, const std::string& size,
                           const std::string& node, const std::string& more) {
    play(fmt::format("alloc place app={} key={} res={} node={} {}", app, key, size, node, more));
    return *this;
}

Cluster& Cluster::victim(const std::string& app, const std::string& key, const std::string& size,
                         const std::string& node, int seconds, const std::string& more) {
    return existing(app, key, size, node, fmt::format("self=1 tags=creationTime:{} {}", seconds, more));
}

Cluster& Cluster::release(const std::string& app, const std::string& key, int type) {
    play(fmt::format("alloc release app={} key={} type={}", app, key, type));
    return *this;
}

Cluster& Cluster::remove(const std::string& app) {
    play("apps remove id=" + app);
    return *this;
}

int Cluster::cycles(int count) {
    int made = 0;
    for (int i = 0; i < count; ++i) made += play("cycle 1") == "allocations=1 " ? 1 : 0;
    return made;
}

Cluster& Cluster::advance(Duration by) {
    play(fmt::format("advance {}ms", std::chrono::duration_cast<std::chrono::milliseconds>(by).count()));
    return *this;
}

Cluster& Cluster::asks_rm(bool predicates, bool preemption) {
    RmCallOptions options;
    options.predicates = predicates;
    options.preemption_predicates = preemption;
    core_->set_rm_calls(options);
    return *this;
}

std::string Cluster::answer(const std::string& text) {
    const std::string outcome = play("answer " + text);
    return outcome.substr(0, outcome.find(' '));
}

Lines Cluster::asked() {
    Lines calls;
    for (const std::string& line : notices())
        if (line.starts_with("call ")) calls.push_back(line);
    return calls;
}

std::string Cluster::reasons(const std::string& id, const std::string& key) const {
    std::string text;
    for (const AskView& ask : app(id).asks)
        for (const LogEntryView& entry : ask.log)
            if (ask.key == key) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", entry.message, entry.count);
    return text;
}

std::string Cluster::configure(const std::string& queues, const std::string& root, const std::string& partition) {
    return play("config " + configuration(queues, root, partition));
}

Cluster& Cluster::begin_recovery(bool force_applications) {
    play(force_applications ? "recover begin-forced" : "recover begin");
    return *this;
}

Cluster& Cluster::forget_tombstones() {
    play("recover forget");
    return *this;
}

Cluster& Cluster::end_recovery() {
    play("recover end");
    return *this;
}

// --- questions ------------------------------------------------------------------------------------------------------

ApplicationView Cluster::app(const std::string& id) const {
    auto found = yk::application_view(*core_->read("default"), id);
    if (found) return *std::move(found);
    ApplicationView gone;
    gone.state = "gone";
    return gone;
}

QueueView Cluster::queue(const std::string& path) const {
    auto found = yk::queue_view(*core_->read("default"), path, false);
    if (found) return *std::move(found);
    QueueView gone;
    gone.state = "gone";
    return gone;
}

NodeView Cluster::node_view(const std::string& id) const {
    auto found = yk::node_view(*core_->read("default"), id);
    return found ? *std::move(found) : NodeView{};
}

std::string Cluster::log_of(const std::string& id) const {
    std::string log;
    for (const auto& [at, state] : app(id).state_log)
        if (state != "New") log += (log.empty() ? "" : " ") + state;
    return log;
}

int Cluster::allocations_of(const std::string& id) const {
    return static_cast<int>(app(id).allocation_count);
}

std::string Cluster::node_of(const std::string& id, const std::string& key) const {
    for (const AllocationView& allocation : app(id).allocations)
        if (allocation.key == key) return allocation.node;
    return {};
}

std::string Cluster::placed(const std::string& id) const {
    std::vector<std::string> keys;
    for (const AllocationView& allocation : app(id).allocations) keys.push_back(allocation.key);
    std::sort(keys.begin(), keys.end());
    return fmt::format("{}", fmt::join(keys, " "));
}

std::string Cluster::reserved_on(const std::string& node) const {
    auto keys = node_view(node).reservations;
    std::sort(keys.begin(), keys.end());
    return fmt::format("{}", fmt::join(keys, " "));
}

std::string Cluster::preempted() const {
    std::vector<std::string> keys;
    for (const ApplicationView& app : yk::application_views(*core_->read("default"), ApplicationList::Active, true))
        for (const AllocationView& allocation : app.allocations)
            if (allocation.preempted) keys.push_back(allocation.key);
    std::sort(keys.begin(), keys.end());
    return fmt::format("{}", fmt::join(keys, " "));
}

Lines Cluster::notices() {
    Lines lines;
    for (Notice& notice : outputs_->notices.take()) lines.push_back(std::move(notice.text));
    return lines;
}

Lines Cluster::notices_in_full() {
    Lines lines;
    for (const Notice& notice : outputs_->notices.take()) lines.push_back(notice.in_full());
    return lines;
}

Lines Cluster::events(bool users_too) {
    Lines lines;
    for (const std::string& line : std::exchange(outputs_->events.lines, {})) {
        const std::size_t from = line.find(' ') + 1; // without the partition
        if (!users_too && line.compare(from, 10, "USERGROUP ") == 0) continue;
        lines.push_back(line.substr(from, line.find(" res=") - from));
        if (lines.back().size() >= 5 && lines.back().compare(lines.back().size() - 5, 5, " ref=") == 0)
            lines.back().resize(lines.back().size() - 5);
    }
    return lines;
}

Lines Cluster::event_messages() {
    Lines lines;
    for (const std::string& line : std::exchange(outputs_->events.lines, {})) {
        const std::size_t from = line.find(' ') + 1, wording = line.find(Transcript::kWording); // without the partition
        if (line.compare(from, 10, "USERGROUP ") == 0) continue;
        lines.push_back(line.substr(from, line.find(" ref=") - from));
        if (wording != std::string::npos) lines.back() += line.substr(wording);
    }
    return lines;
}

} // namespace yk::testing
