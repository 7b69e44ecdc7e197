#include "ykd/service/config_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/counted.h"
#include "libcore/base/text.h"
#include "libcore/config/partition_names.h"
#include "ykd/service/config_effects.h"
#include "ykd/service/config_errors.h"
#include "ykd/service/daemon.h"
#include "ykd/service/extra_config_keys.h"
#include "ykd/service/log.h"

namespace yk::service {
namespace {

using config_yaml::LoadOutcome;
using wire::ErrorReply;

constexpr std::size_t kItemRoom = 4096; // of a poll's reply, around the text

/// C-030: a partition that is written in another case keeps the name it has; so it is kept and shown.
void keep_names(const Rm& rm, Candidate& candidate) {
    const auto active = rm.facts().configuration;
    if (!active) return;
    config::PartitionNames names;
    for (const config::Partition& one : active->partitions) names.add(one.name);
    const auto& wanted = candidate.outcome->configuration->partitions;
    if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) { return names.running(one.name) == one.name; }))
        return;
    auto renamed = std::make_shared<LoadOutcome>(*candidate.outcome);
    for (config::Partition& one : renamed->configuration->partitions) one.name = names.running(one.name);
    candidate.outcome = std::move(renamed);
}

bool is_active(const Rm& rm, const Candidate& candidate) {
    const auto active = rm.facts().configuration;
    return active && active->checksum == candidate.outcome->configuration->checksum;
}

bool has_store(const Rm& rm) {
    const auto able = rm.facts().capabilities;
    return std::find(able.begin(), able.end(), "configStore") != able.end();
}

/// The largest text that the RM can receive.
std::size_t room_for_text(Daemon& daemon, const Rm& rm) {
    const auto owner = rm.facts().owner;
    const SessionPtr session = owner ? daemon.sessions().find(*owner) : nullptr;
    return daemon.reply_limit(session.get()) - kItemRoom;
}

/// One change on its way. Owner: the closure of the step that comes next.
class Way : public std::enable_shared_from_this<Way> {
public:
    Way(Daemon& daemon, ConfigChange change) : daemon_(daemon), change_(std::move(change)) {}

    void begin() {
        keep_names(rm(), change_.candidate);
        if (change_.dry_run) return look();
        rm().owner.in_order(
            [self = shared_from_this()](RmOwner& owner) {
                self->rm().config_store.in_turn(owner, [self](RmOwner& then) { self->take_turn(then); });
            },
            [self = shared_from_this()] { self->leave(); });
    }

private:
    [[nodiscard]] Rm& rm() const { return *change_.rm; }
    [[nodiscard]] const config::Configuration& wanted() const { return *change_.candidate.outcome->configuration; }

    void look() {
        const auto self = shared_from_this();
        const auto seen = [self](const Preview& preview) {
            ChangeOutcome outcome;
            if (!preview.refusal.empty()) outcome.refusal = invalid(preview.refusal);
            outcome.changed = !is_active(self->rm(), self->change_.candidate);
            outcome.wanted = self->change_.candidate.configuration();
            outcome.preview = preview;
            self->change_.done(outcome);
        };
        look_ahead(daemon_, change_.rm, change_.candidate.configuration(), true, seen, [self] { self->leave(); });
    }

    void take_turn(RmOwner& owner) {
        if (owner.context() == nullptr || rm().epoch() != change_.epoch)
            return leave(); // it was meant for what the RM was
        if (wants_to_store(owner)) return store(owner);
        static_cast<void>(apply(owner));
    }

    // --- storing (I-184) ------------------------------------------------------------------------

    /// Not what is active already or would be refused.
    [[nodiscard]] bool wants_to_store(RmOwner& owner) const {
        return !change_.stored_already && has_store(rm()) && !is_active(rm(), change_.candidate) &&
               owner.context()->check_configuration(wanted()).ok();
    }
    void store(RmOwner& owner) {
        const std::string& text = *change_.candidate.text;
        const std::size_t room = room_for_text(daemon_, rm());
        if (text.size() > room)
            return refuse(not_stored(fmt::format("the text has {} bytes, it can receive {}", text.size(), room)));
        rm().config_store.store(owner, text,
                                [self = shared_from_this()](RmOwner& then, const std::optional<std::string>& refusal) {
                                    if (refusal) return self->refuse(self->not_stored(*refusal));
                                    if (!self->apply(then)) self->give_back(then);
                                });
    }
    [[nodiscard]] ErrorReply not_stored(const std::string& why) const {
        return {
            ErrorCode::ConfigStore, fmt::format("RM {} did not store the configuration: {}", rm().id, why), {}, {}, {}};
    }
    /// The RM stored what could not be applied after all: it is to store what is active.
    void give_back(RmOwner& owner) const {
        const auto active = rm().facts().configuration;
        const auto kept = active ? daemon_.config_history().find(rm().id, active->checksum) : std::nullopt;
        if (kept && owner.context() != nullptr)
            rm().config_store.store(owner, *kept->text, [](RmOwner&, const std::optional<std::string>&) {});
    }

    // --- applying (I-181, C-445) ----------------------------------------------------------------

    /// True: it is active.
    bool apply(RmOwner& owner) {
        const bool changed = !is_active(rm(), change_.candidate);
        if (changed) {
            if (const auto taken = owner.door().configure(wanted(), owner.now()); !taken.ok()) {
                refuse(invalid(taken.error().text()));
                return false;
            }
            rm().users->configure(wanted());
            owner.settle_releases();
        }
        remember(owner);
        if (change_.extra_config) set_extra_config();
        daemon_.workers().post([self = shared_from_this(), changed] { self->report(changed); });
        return true;
    }
    /// What was there before is freed elsewhere: a large configuration takes a while.
    void remember(RmOwner& owner) const {
        const Candidate& now = change_.candidate;
        ConfigurationPtr before = now.configuration();
        daemon_.config_history().keep(rm().id, {real_now(), wanted().checksum, now.origin, now.text});
        rm().change_facts([&](RmFacts& facts) {
            facts.last_reload = ReloadNote{real_now(), {}};
            std::swap(facts.configuration, before);
            facts.config_from_file = now.from_file;
            facts.config_origin = now.origin;
            if (!change_.policy_group.empty()) facts.policy_group = change_.policy_group;
            facts.partitions.clear();
            for (const std::string& name : owner.context()->partition_names())
                facts.partitions.push_back(owner.context()->full_name(name));
        });
        daemon_.workers().post([before = std::move(before)] {});
    }
    void set_extra_config() const {
        const TextMap before = daemon_.extra_config().effective();
        daemon_.extra_config().set(rm().id, *change_.extra_config);
        warn_of_each("core.config", "extraConfig", changes_ignored(before, daemon_.extra_config().effective()));
    }

    // --- the end --------------------------------------------------------------------------------

    [[nodiscard]] static ErrorReply invalid(const std::string& why) {
        return {ErrorCode::ConfigInvalid, why, {}, {}, {}};
    }
    void refuse(const ErrorReply& error) const {
        log("core.config").warn("RM {}: configuration refused, the old one stays: {}", rm().id, error.message);
        note_refusal(rm(), error.message);
        end(error);
    }
    /// Worker.
    void report(bool changed) const {
        if (change_.extra_config) daemon_.apply_extra_config();
        log("core.config")
            .info("RM {}: configuration {} {} ({})", rm().id, wanted().checksum.substr(0, 12),
                  changed ? "is active" : "is unchanged", change_.candidate.origin);
        log_problems("RM " + rm().id, *change_.candidate.outcome);
        ChangeOutcome outcome;
        outcome.changed = changed;
        outcome.wanted = change_.candidate.configuration();
        change_.done(outcome);
    }
    void end(const ErrorReply& refusal) const {
        ChangeOutcome outcome;
        outcome.refusal = refusal;
        change_.done(outcome);
    }
    /// The RM has left, or registered anew, before its turn came.
    void leave() const {
        ChangeOutcome outcome;
        outcome.rm_left = true;
        if (daemon_.is_stopping())
            outcome.refusal = {ErrorCode::ShuttingDown, "the daemon is stopping", {}, {}, {}};
        else
            outcome.refusal = {ErrorCode::RmUnknown,
                               fmt::format("RM {} is not registered any more, or anew since", rm().id),
                               "rmID",
                               {},
                               {}};
        change_.done(outcome);
    }

    Daemon& daemon_;
    ConfigChange change_;
};

} // namespace

std::string Candidate::refusal() const {
    constexpr std::size_t kLongest = 1000; // a path may be long
    std::string first = shortened(outcome->first_error().text(), kLongest);
    const std::size_t others = outcome->problems.size() - 1;
    if (others == 0) return first;
    return fmt::format("{} (and {})", first, counted(others, "more problem"));
}

Candidate sent_candidate(std::string text, std::string_view source, std::string origin) {
    auto outcome = std::make_shared<const LoadOutcome>(config_yaml::load_or_default(text, source));
    return {std::move(outcome), std::make_shared<const std::string>(std::move(text)), std::move(origin), false};
}

Candidate file_candidate(ConfigText file) {
    auto outcome = std::make_shared<const LoadOutcome>(config_yaml::load(file.text, file.source));
    return {std::move(outcome), std::make_shared<const std::string>(std::move(file.text)), "file " + file.source, true};
}

void begin_change(Daemon& daemon, ConfigChange change) {
    std::make_shared<Way>(daemon, std::move(change))->begin();
}

void note_refusal(Rm& rm, const std::string& why) {
    rm.change_facts([&](RmFacts& facts) { facts.last_reload = ReloadNote{real_now(), why}; });
}

void refuse_candidate(Rm& rm, const Candidate& candidate) {
    log("core.config").warn("RM {}: configuration refused, the old one stays: {}", rm.id, candidate.refusal());
    log_problems("RM " + rm.id, *candidate.outcome, 1); // the first is said
    note_refusal(rm, candidate.refusal());
}

wire::Value changes_of(const Rm& rm, const config::Configuration& wanted, const Preview& preview) {
    const auto active = rm.facts().configuration;
    return active ? changes_value(*active, wanted, preview.running) : wire::Value::array();
}

} // namespace yk::service
