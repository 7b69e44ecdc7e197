// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_change.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/check.h"
#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "libcore/config/partition_names.h"
#include "protocol/wire/body_reader.h"
#include "ykd/configuration/config_effects.h"
#include "ykd/configuration/config_errors.h"
#include "ykd/configuration/extra_config_keys.h"
#include "ykd/configuration/kept_configurations.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using config_yaml::LoadOutcome;
using si::ErrorCode;
using wire::ErrorReply;

constexpr std::size_t kItemOverhead = 4096; // bytes of a poll's reply around the text

/// A partition whose name is written in another case than before is the same one and keeps the name that it has, in
/// what is stored and in what is shown (C-030).
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

} // namespace

/// One change on its way. Owner: the closure of its next step. Thread: whichever runs that step; one step at a time.
class ConfigChanger::Way : public std::enable_shared_from_this<Way> {
public:
    Way(const Parts& parts, ConfigChange change) : parts_(parts), change_(std::move(change)) {}

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
        look_ahead(parts_.workers, change_.rm, change_.candidate.configuration(), true, seen,
                   [self] { self->leave(); });
    }

    void take_turn(RmOwner& owner) {
        if (owner.context() == nullptr || rm().epoch() != change_.epoch)
            return leave(); // the change was meant for a registration that has ended
        if (wants_to_store(owner)) return store(owner);
        static_cast<void>(apply(owner));
    }

    // --- storing (I-184) ------------------------------------------------------------------------

    /// Whether the RM is to store the text: not when it is active already, and not when it would be refused anyway.
    [[nodiscard]] bool wants_to_store(RmOwner& owner) const {
        return !change_.stored_already && has_store(rm()) && !is_active(rm(), change_.candidate) &&
               owner.context()->check_configuration(wanted()).ok();
    }
    void store(RmOwner& owner) {
        const std::string& text = *change_.candidate.text;
        const std::size_t longest = longest_text();
        if (text.size() > longest)
            return refuse(not_stored(fmt::format("the text has {} bytes, it can receive {}", text.size(), longest)));
        rm().config_store.store(owner, text,
                                [self = shared_from_this()](RmOwner& then, const std::optional<std::string>& refusal) {
                                    if (refusal) return self->refuse(self->not_stored(*refusal));
                                    if (!self->apply(then)) self->give_back(then);
                                });
    }
    /// The bytes of the largest text that the RM can receive.
    [[nodiscard]] std::size_t longest_text() const {
        const auto owner = rm().facts().owner;
        const SessionPtr session = owner ? parts_.sessions.find(*owner) : nullptr;
        return reply_limit(session.get(), parts_.max_message) - kItemOverhead;
    }
    [[nodiscard]] ErrorReply not_stored(const std::string& why) const {
        return {
            ErrorCode::ConfigStore, fmt::format("RM {} did not store the configuration: {}", rm().id, why), {}, {}, {}};
    }
    /// The RM has stored a text that could not be applied after all: it gets the active one to store instead.
    void give_back(RmOwner& owner) const {
        const auto active = rm().facts().configuration;
        const auto kept = active ? parts_.history.find(rm().id, active->checksum) : std::nullopt;
        if (kept && owner.context() != nullptr)
            rm().config_store.store(owner, *kept->text, [](RmOwner&, const std::optional<std::string>&) {});
    }

    // --- applying (I-181, C-445) ----------------------------------------------------------------

    /// True: the configuration is active. False: it was refused, and the change has ended.
    bool apply(RmOwner& owner) {
        const bool changed = !is_active(rm(), change_.candidate);
        if (changed) {
            if (const auto taken = owner.gateway().configure(wanted(), owner.now()); !taken.ok()) {
                refuse(invalid(taken.error().text()));
                return false;
            }
            rm().users->configure(wanted());
            owner.settle_releases();
        }
        remember(owner);
        if (change_.extra_config) set_extra_config();
        owner.flush(); // what is reported of it, also into the books, which a restart goes on with
        owner.books().when_kept([self = shared_from_this(), changed](bool) {
            self->parts_.state.when_written(
                [self, changed] { self->parts_.workers.post([self, changed] { self->report(changed); }); });
        });
        return true;
    }
    /// Notes the new configuration. The former one is freed on a worker: a large one takes a while.
    void remember(RmOwner& owner) const {
        const Candidate& now = change_.candidate;
        ConfigurationPtr before = now.configuration();
        const AcceptedConfig accepted{real_now(), wanted().checksum, now.origin, now.text};
        parts_.history.keep(rm().id, accepted);
        note_removed(owner);
        owner.books().note_configuration(kept_form(accepted), now.from_file, owner.context()->partition_names());
        owner.books().note_change(change_.policy_group, kept_settings());
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
        keep_configurations(parts_.state, parts_.history, rm());
        parts_.workers.post([before = std::move(before)] {});
    }
    /// Notifies the RM which of its partitions are gone with all that was there (I-183).
    void note_removed(RmOwner& owner) const {
        const std::vector<std::string> left = owner.context()->partition_names();
        const auto former = rm().facts().configuration; // nullptr: it had none
        if (!former) return;
        std::vector<std::string> removed;
        for (const config::Partition& each : former->partitions)
            if (std::find(left.begin(), left.end(), each.name) == left.end()) removed.push_back(each.name);
        if (removed.empty()) return;
        owner.writer().notice(
            "PARTITIONS",
            fmt::format("a new configuration removed {}, with all that was there", fmt::join(removed, ", ")),
            wire::encoded_value({{"removed", removed}, {"partitions", left}}));
    }
    /// The extraConfig that comes with the change, as in a registration.
    [[nodiscard]] std::optional<si::StringMap> kept_settings() const {
        if (!change_.extra_config) return std::nullopt;
        return si::StringMap{change_.extra_config->begin(), change_.extra_config->end()};
    }
    void set_extra_config() const {
        const TextMap before = parts_.settings.extra_config().effective();
        parts_.settings.extra_config().set(rm().id, *change_.extra_config);
        warn_of_each("core.config", "extraConfig", changes_ignored(before, parts_.settings.extra_config().effective()));
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
    /// Logs and reports the success. Thread: a worker.
    void report(bool changed) const {
        if (change_.extra_config) parts_.settings.apply();
        log("core.config")
            .info("RM {}: configuration {} {} ({})", rm().id, wanted().checksum.substr(0, 12),
                  changed ? "is active" : "is unchanged", change_.candidate.origin);
        log_problems("RM " + rm().id, *change_.candidate.outcome);
        if (changed && parts_.changed) parts_.changed(rm().id);
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
    /// Ends the change: before its turn came, the RM left or registered anew.
    void leave() const {
        ChangeOutcome outcome;
        outcome.rm_left = true;
        if (parts_.stop.is_set())
            outcome.refusal = {ErrorCode::ShuttingDown, "the daemon is stopping", {}, {}, {}};
        else
            outcome.refusal = {ErrorCode::RmUnknown,
                               fmt::format("RM {} is not registered any more, or anew since", rm().id),
                               "rmID",
                               {},
                               {}};
        change_.done(outcome);
    }

    const Parts& parts_;
    ConfigChange change_;
};

std::string Candidate::refusal() const {
    YK_ASSUME(!good(), "only a text that is refused has a refusal");
    constexpr std::size_t kLongest = 1000; // a path may be long
    std::string first = shortened(outcome->first_error().text(), kLongest);
    const std::size_t others = outcome->problems.size() - 1;
    if (others == 0) return first;
    return fmt::format("{} (and {})", first, pluralize(others, "more problem"));
}

Candidate sent_candidate(std::string text, std::string_view source, std::string origin) {
    auto outcome = std::make_shared<const LoadOutcome>(config_yaml::load_or_default(text, source));
    return {std::move(outcome), std::make_shared<const std::string>(std::move(text)), std::move(origin), false};
}

Candidate file_candidate(ConfigText file) {
    auto outcome = std::make_shared<const LoadOutcome>(config_yaml::load(file.text, file.source));
    return {std::move(outcome), std::make_shared<const std::string>(std::move(file.text)), "file " + file.source, true};
}

void ConfigChanger::begin(ConfigChange change) {
    YK_ASSUME(change.candidate.good(), "only a good configuration can become active");
    std::make_shared<Way>(parts_, std::move(change))->begin();
}

void note_refusal(Rm& rm, const std::string& why) {
    rm.change_facts([&](RmFacts& facts) { facts.last_reload = ReloadNote{real_now(), why}; });
}

void refuse_candidate(Rm& rm, const Candidate& candidate) {
    log("core.config").warn("RM {}: configuration refused, the old one stays: {}", rm.id, candidate.refusal());
    log_problems("RM " + rm.id, *candidate.outcome, 1); // the first is in the line above
    note_refusal(rm, candidate.refusal());
}

wire::Value changes_of(const Rm& rm, const config::Configuration& wanted, const Preview& preview) {
    const auto active = rm.facts().configuration;
    return active ? changes_value(*active, wanted, preview.running) : wire::Value::array();
}

} // namespace yk::service
