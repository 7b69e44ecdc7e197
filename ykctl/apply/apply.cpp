// SPDX-License-Identifier: Apache-2.0
// The commands apply, diff and delete.

#include <algorithm>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "ykctl/apply/object_kind.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/existing.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/files/object_file.h"
#include "ykctl/files/read_files.h"
#include "ykctl/render/text.h"

namespace yk::cli {

std::string partition_or(const Context& context, const std::string& partition) {
    return plain_partition(partition.empty() ? context.settings().partition.value_or("") : partition);
}

namespace {

using wire::Value;

struct FileOptions {
    std::string file;
    bool is_dry = false, force = false;
};

/// The kinds, and the files with their objects, which have been read once and are right.
class Files {
public:
    /// Each kind in the order in which its objects need each other: nodes and applications before asks.
    static Answer<Files> read(Context& context, const std::string& path) {
        Files files;
        YK_TRY(texts, read_files(path, context.streams().in));
        files.texts_ = std::move(texts);
        std::set<std::string> seen;
        const auto check = [&](const MessageSpec& spec, const Value& object) -> std::optional<Failure> {
            for (const auto& kind : files.kinds_) {
                if (&kind->spec() != &spec) continue;
                const auto identity = kind->identity(context, object);
                if (seen.insert(std::string{kind->noun()} + '\x1f' + identity).second) return std::nullopt;
                return usage_error(fmt::format("{}: {} {} is there twice", shown_name(path), kind->noun(),
                                               printable(identity.substr(identity.rfind('\x1f') + 1))));
            }
            return std::nullopt;
        };
        if (auto failure = files.for_each(check)) return *std::move(failure);
        if (seen.empty()) return usage_error(shown_name(path) + ": holds no node, application or ask");
        return files;
    }

    /// Calls `take` with the objects of a kind, a thousand at a time.
    template <class Take>
    std::optional<Failure> for_batches(const ObjectKind& kind, Take&& take) const {
        Batches<std::vector<Value>> batches{take};
        const auto add = [&](const MessageSpec& spec, Value object) -> std::optional<Failure> {
            return &spec == &kind.spec() ? batches.add(std::move(object)) : std::nullopt;
        };
        if (auto failure = for_each(add)) return failure;
        return batches.finish();
    }

    [[nodiscard]] std::vector<ObjectKind*> kinds() const {
        std::vector<ObjectKind*> kinds;
        kinds.reserve(kinds_.size());
        for (const auto& kind : kinds_) kinds.push_back(kind.get());
        return kinds;
    }

private:
    Files() {
        kinds_.push_back(node_kind());
        kinds_.push_back(application_kind());
        kinds_.push_back(ask_kind());
    }

    std::optional<Failure> for_each(const KindSink& sink) const {
        static const Kinds kKinds{&ask_spec(), &node_spec(), &application_spec()}; // an ask may name a node, too
        for (const auto& [name, text] : texts_)
            if (auto failure = for_each_object(text, name, kKinds, sink)) return failure;
        return std::nullopt;
    }

    std::vector<NamedText> texts_;
    std::vector<std::unique_ptr<ObjectKind>> kinds_;
};

/// What is said of a plan that is not carried out, or need not be.
Done report_of(const Plan& plan, bool is_dry) {
    using Step = Plan::Step;
    const char* const outcome = plan.step == Step::None     ? kUnchanged
                                : plan.step == Step::Create ? (is_dry ? "would be created" : "created")
                                                            : (is_dry ? "would be changed" : "changed");
    Done done{plan.what, plan.id, outcome, plan.refusal, plan.remark, {}};
    if (plan.step == Step::Change) {
        done.detail = ": " + differences_text(plan.differences);
        done.changes = differences_value(plan.differences);
    }
    return done;
}

/// Looks, and sends what is to be sent.
std::optional<Failure> apply_batch(Context& context, ObjectKind& kind, std::vector<Value> batch, Report& report) {
    auto plans = kind.plan(context, std::move(batch));
    if (!plans.ok()) return std::move(plans).error();
    auto messages = Value::array();
    for (Plan& plan : *plans)
        for (Value& message : plan.messages) messages.push_back(std::move(message));
    auto outcomes = messages.empty() ? Answer<ElementOutcomes>{ElementOutcomes{}} : kind.send(context, messages);
    if (!outcomes.ok()) return std::move(outcomes).error();
    for (const Plan& plan : *plans) {
        Done done = report_of(plan, false);
        if (plan.step == Plan::Step::Create) done = kind.created(*outcomes, plan);
        if (const auto refused = outcomes->refused.find(plan.key);
            plan.step == Plan::Step::Change && refused != outcomes->refused.end())
            done.refusal = refused->second;
        report.add(std::move(done));
    }
    return std::nullopt;
}

/// Calls `take` with each kind and a thousand of its objects at a time, and prints the report that it adds to.
template <class Take>
Outcome report_on(const Files& files, const std::vector<ObjectKind*>& kinds, Report& report, Take&& take) {
    for (ObjectKind* const kind : kinds) {
        report.set_kind(kind->noun());
        const auto take_batch = [&](std::vector<Value> batch) { return take(*kind, std::move(batch)); };
        if (auto failure = files.for_batches(*kind, take_batch)) return report.finish(std::move(failure));
    }
    return report.finish();
}

Outcome apply_file(Context& context, const std::string& file) {
    YK_TRY(files, Files::read(context, file));
    Report report{context};
    return report_on(files, files.kinds(), report, [&](ObjectKind& kind, std::vector<Value> batch) {
        return apply_batch(context, kind, std::move(batch), report);
    });
}

/// Shows what apply would do; with `all` also what it would leave. Exit::Different when it would do anything.
Outcome show_differences(Context& context, const std::string& file, bool all) {
    constexpr std::size_t kShown = 10'000;
    YK_TRY(files, Files::read(context, file));
    Report report{context, kShown};
    bool is_different = false;
    const auto show = [&](ObjectKind& kind, std::vector<Value> batch) -> std::optional<Failure> {
        auto plans = kind.plan(context, std::move(batch));
        if (!plans.ok()) return std::move(plans).error();
        for (const Plan& plan : *plans) {
            const bool differs = plan.step != Plan::Step::None;
            is_different = is_different || differs;
            if (differs || all || plan.refusal) report.add(report_of(plan, true));
        }
        return std::nullopt;
    };
    YK_TRY(shown, report_on(files, files.kinds(), report, show));
    return shown == Exit::Ok && is_different ? Exit::Different : shown;
}

Outcome dry_run(Context& context, const std::string& file) {
    YK_TRY(shown, show_differences(context, file, true));
    return shown == Exit::Different ? Exit::Ok : shown;
}

Outcome diff_file(Context& context, const std::string& file) {
    YK_TRY(shown, show_differences(context, file, false));
    const bool in_words = context.format() == Format::Table || context.format() == Format::Wide;
    if (shown == Exit::Ok && in_words && !context.settings().quiet) context.out() << "no changes\n";
    return shown;
}

Outcome delete_file(Context& context, const FileOptions& options) {
    YK_TRY(files, Files::read(context, options.file));
    Report report{context};
    const auto remove = [&](const ObjectKind& kind, const std::vector<Value>& batch) {
        return kind.remove(context, batch, options.force, report);
    };
    auto kinds = files.kinds();
    std::reverse(kinds.begin(), kinds.end()); // what needs others goes first
    return report_on(files, kinds, report, remove);
}

std::shared_ptr<FileOptions> define_file(Command command) {
    auto options = std::make_shared<FileOptions>();
    command
        .option("-f,--file", options->file,
                "nodes, applications and asks as YAML, JSON or JSON-lines, as show and list -o yaml print them; a "
                "directory; - is standard input")
        .value("FILE")
        .required();
    return options;
}

} // namespace

void define_apply(Command root, Context& context) {
    const auto apply = root.sub("apply", "make nodes, applications and asks as a file says: create, change, or leave");
    const auto applied = define_file(apply);
    apply.flag("--dry-run", applied->is_dry, "show what would be done, and do nothing");
    apply.run([&context, applied] {
        return applied->is_dry ? dry_run(context, applied->file) : apply_file(context, applied->file);
    });
    const auto diff = root.sub("diff", "what apply would do; exit 8 when that is something");
    const auto shown = define_file(diff);
    diff.run([&context, shown] { return diff_file(context, shown->file); });
    const auto remove = root.sub("delete", "remove the nodes, applications and asks of a file, where they are there");
    const auto removed = define_file(remove);
    remove.flag("--force", removed->force, "nodes with what runs there");
    remove.run([&context, removed] { return delete_file(context, *removed); });
}

} // namespace yk::cli
