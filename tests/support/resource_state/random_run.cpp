// SPDX-License-Identifier: Apache-2.0
#include "tests/support/resource_state/random_run.h"

#include <stdexcept>
#include <utility>

namespace yk::testing {

using namespace std::chrono_literals;

/// Checks that the `old` of each call is the `current` of the last one that succeeded (rs R-082).
class ChainHandler final : public rs::ResourceEventHandler<Album> {
public:
    ChainHandler(std::uint64_t seed, const unsigned& failures) : chance_(seed), failures_(failures) {}

    [[nodiscard]] std::string_view name() const override { return "chain"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context, const rs::Ptr<Album>& object) override {
        if (known.contains(object->meta.id)) fault("added twice: " + object->meta.id);
        return answer(context, object->meta.id, object);
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<Album>& old,
                                              const rs::Ptr<Album>& current) override {
        if (old->meta.uid != current->meta.uid) fault("two lives in one update: " + old->meta.id);
        expect(*old);
        return answer(context, old->meta.id, current);
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context, const rs::Ptr<Album>& last) override {
        expect(*last);
        return answer(context, last->meta.id, nullptr);
    }
    /// Ends one of the calls that answered later().
    void finish_one(rs::ResourceInformer<Album>& albums, Instant now) {
        if (open_.empty()) return;
        const auto call = open_.extract(open_.begin());
        const bool fails = chance_.next() % 1000 < failures_;
        if (albums.finish("chain", call.key(), fails ? rs::HandlerResult::retry("late") : rs::HandlerResult::ok(),
                          now) &&
            !fails)
            learn(call.mapped().first, call.mapped().second);
    }
    [[nodiscard]] bool has_open() const { return !open_.empty(); }

    std::map<std::string, rs::Ptr<Album>> known;
    std::vector<std::string> faults;

private:
    void fault(std::string what) { faults.push_back(std::move(what)); }
    /// By content: a change of the version alone needs no call.
    void expect(const Album& old) {
        const auto found = known.find(old.meta.id);
        if (found == known.end())
            fault("never added: " + old.meta.id);
        else if (found->second->meta.uid != old.meta.uid || found->second->title != old.title)
            fault("not what it was given last: " + old.meta.id);
    }
    void learn(const std::string& id, const rs::Ptr<Album>& current) {
        if (current)
            known.insert_or_assign(id, current);
        else
            known.erase(id);
    }
    [[nodiscard]] rs::HandlerResult answer(const rs::EventContext& context, const std::string& id,
                                           const rs::Ptr<Album>& current) {
        if (chance_.next() % 1000 >= failures_) {
            learn(id, current);
            return rs::HandlerResult::ok();
        }
        switch (chance_.next() % 5) {
        case 0: return rs::HandlerResult::retry("no");
        case 1: return rs::HandlerResult::conflict("no");
        case 2: return rs::HandlerResult::permanent("never");
        case 3: throw std::runtime_error("thrown");
        default: open_.emplace(context.call, std::pair{id, current}); return rs::HandlerResult::later();
        }
    }

    rs::Chance chance_;
    const unsigned& failures_;
    std::map<rs::CallId, std::pair<std::string, rs::Ptr<Album>>> open_;
};

Troubles no_troubles() {
    return {};
}

/// Where nothing is chained, a relist would leave a resync nothing to find.
Troubles log_troubles(bool chained) {
    Troubles troubles;
    troubles.log = {100, 100, 100, chained ? 30U : 0U, 50};
    troubles.chained = chained;
    return troubles;
}

Troubles call_troubles() {
    Troubles troubles;
    troubles.store = 100;
    troubles.handler = 300;
    return troubles;
}

Troubles all_troubles(bool chained) {
    Troubles troubles;
    troubles.chained = chained;
    troubles.log = {50, 50, 50, 10, 50};
    troubles.store = 50;
    troubles.handler = 200;
    troubles.crash = 5;
    troubles.purge = 10;
    troubles.restore = 3;
    return troubles;
}

RandomRun::RandomRun(const Troubles& troubles, std::uint64_t seed)
    : chance_(seed), troubles_(troubles), log_(database_, troubles.chained, chance_.next()) {
    log_.faults = troubles.log;
    database_.store_fault = [this](std::string_view) { return fault(); };
    settings_.resync.period = 10s;
    settings_.resync.page = 3;
    settings_.reconcile.batch = 4;
    settings_.poll = {100ms, 100ms};
    settings_.unreadable_relist = 5s;
    for (int each = 0; each < 5; ++each) change();
    begin();
}

RandomRun::~RandomRun() = default;

std::string RandomRun::play() {
    for (int step = 0; step < 400; ++step) this->step();
    log_.faults = {};
    troubles_.store = troubles_.handler = 0;
    for (int each = 0; each < 500 || !calls_.empty(); ++each) { // 50 s: some periods
        while (manager_->turn(now_) || take() || run_call() || finish_call() || end_handler_call()) {
        }
        now_ = now_ + 100ms;
    }
    return verdict();
}

std::optional<rs::StoreError> RandomRun::fault() {
    if (!happens(troubles_.store)) return std::nullopt;
    constexpr rs::StoreFault kFaults[] = {rs::StoreFault::Down, rs::StoreFault::Transient, rs::StoreFault::Fatal};
    return rs::StoreError{kFaults[chance_.next() % 3], "as the seed wants it"};
}

/// The program starts; what one had in memory before is gone.
void RandomRun::begin() {
    calls_.clear();
    manager_ = std::make_unique<rs::StateManager>(log_, notices_, settings_, chance_.next());
    albums_ = &manager_->add(rows_);
    auto handler = std::make_unique<ChainHandler>(chance_.next(), troubles_.handler);
    if (handler_) handler->faults = handler_->faults;
    handler_ = std::move(handler);
    albums_->add_handler(*handler_, {}, now_);
    manager_->start(now_);
}

void RandomRun::step() {
    if (happens(troubles_.crash)) return begin();
    if (happens(troubles_.purge)) database_.purge(database_.last() - chance_.next() % 3);
    if (happens(troubles_.restore)) return restore();
    switch (chance_.next() % 9) {
    case 0:
    case 1: return change();
    case 2: now_ = now_ + chance_.between(0ms, 300ms); return;
    case 3: static_cast<void>(take()); return;
    case 4: static_cast<void>(run_call()); return;
    case 5: static_cast<void>(finish_call()); return;
    case 6: static_cast<void>(end_handler_call()); return;
    default: static_cast<void>(manager_->turn(now_));
    }
}

bool RandomRun::take() {
    if (calls_.size() >= 4) return false;
    auto call = manager_->next_call(now_);
    if (!call) return false;
    calls_.push_back({std::move(call)});
    return true;
}

bool RandomRun::run_call() {
    for (Call& each : calls_) {
        if (each.was_run || (happens(300) && calls_.size() > 1)) continue;
        each.call->run();
        return each.was_run = true;
    }
    return false;
}

bool RandomRun::finish_call() {
    for (std::size_t tried = 0, at = chance_.next(); tried < calls_.size(); ++tried, ++at) {
        Call& each = calls_[at % calls_.size()];
        if (!each.was_run) continue;
        each.call->finish(now_);
        calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(at % calls_.size()));
        return true;
    }
    return false;
}

bool RandomRun::end_handler_call() {
    const bool has = handler_->has_open();
    handler_->finish_one(*albums_, now_);
    return has;
}

void RandomRun::change() {
    const std::string id{static_cast<char>('a' + chance_.next() % 12)};
    if (!rows_.rows().contains(id)) return rows_.create(album(id, std::to_string(chance_.next() % 100)));
    switch (chance_.next() % 4) {
    case 0: return rows_.drop(id);
    case 1: rows_.drop(id); return rows_.create(album(id, "again"));
    case 2:
        return rows_.change(
            id, [](Album&) {}, true);
    default: return rows_.change(id, [this](Album& one) { one.title = std::to_string(chance_.next() % 100); });
    }
}

/// The database goes back to what it was at the last restore, under the name of another log.
void RandomRun::restore() {
    std::swap(backup_, rows_.rows());
    backup_ = rows_.rows();
    database_.begin_epoch("epoch-" + std::to_string(++epochs_));
}

std::string RandomRun::verdict() {
    if (!handler_->faults.empty()) return handler_->faults.front();
    if (!manager_->is_running()) return "it does not run";
    std::string known, there;
    for (const auto& [id, object] : handler_->known) known += id + object->meta.uid + object->title + ' ';
    for (const auto& [id, row] : rows_.rows()) there += id + row.meta.uid + row.title + ' ';
    if (albums_->cache().size() != rows_.rows().size()) return "the cache has another size";
    for (const auto& [id, row] : rows_.rows()) {
        const auto cached = albums_->cache().get(id);
        if (!cached || cached->meta.uid != row.meta.uid || cached->meta.version != row.meta.version)
            return "the cache has another " + id;
    }
    if (known != there) return "the handler knows " + known + "and there is " + there;
    for (const auto& broken : {albums_->cache().check(), albums_->reconciler().queue().check(),
                               albums_->deliveries().handlers().front()->check()})
        if (!broken.empty()) return broken.front();
    if (albums_->reconciler().queue().size() != 0) return "keys are left";
    return albums_->deliveries().handlers().front()->backlog() == 0 ? "" : "deliveries are left";
}

} // namespace yk::testing
