// SPDX-License-Identifier: Apache-2.0
// The command config edit.

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "libcore/config_yaml/load.h"
#include "ykctl/cli/values.h"
#include "ykctl/config/config_change.h"
#include "ykctl/config/config_commands.h"
#include "ykctl/config/history.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

/// A file of this user's alone with the text. Owner: edit(). It is removed at the end, unless it is kept.
class EditedFile {
public:
    explicit EditedFile(const std::string& text) {
        std::error_code ignored;
        auto folder = std::filesystem::temp_directory_path(ignored);
        std::string pattern = ((ignored ? "/tmp" : folder) / "ykctl-XXXXXX.yaml").string();
        const int file = ::mkstemps(pattern.data(), 5);
        if (file < 0) return;
        ::close(file);
        path_ = pattern;
        std::ofstream out{path_}; // not write_text(), whose file others may read
        out << text;
        out.close();
        if (!out) failure_ = usage_error(path_ + ": cannot be written", {"is the disk full?"});
    }
    ~EditedFile() {
        std::error_code ignored;
        if (!path_.empty() && !is_kept_) std::filesystem::remove(path_, ignored);
    }
    EditedFile(const EditedFile&) = delete;
    EditedFile& operator=(const EditedFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::optional<Failure> failure() const {
        return path_.empty() ? usage_error("no temporary file can be made", {"is TMPDIR writable?"}) : failure_;
    }
    /// The failure, which says that nothing is lost.
    [[nodiscard]] Failure kept(Failure failure) {
        is_kept_ = true;
        failure.hints.push_back("what you wrote is in " + path_ + ":  ykctl config reload -f " + path_);
        return failure;
    }

private:
    std::string path_; // empty: there is none
    std::optional<Failure> failure_;
    bool is_kept_ = false;
};

/// Runs the user's editor on a file until it ends.
std::optional<Failure> run_editor(const std::string& path) {
    // As `sh` reads the variables: they may have arguments.
    const char* const words[] = {
        "sh",         "-c",         R"(exec ${VISUAL:-${EDITOR:-$(command -v editor || echo vi)}} "$1")",
        "ykctl-edit", path.c_str(), nullptr};
    const pid_t child = ::fork();
    if (child == 0) {
        ::execv("/bin/sh",
                const_cast<char**>(words)); // NOLINT(cppcoreguidelines-pro-type-const-cast): execv changes none
        ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) return usage_error("the editor cannot be started");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    return usage_error("the editor failed; nothing was changed", {"another one:  EDITOR=nano ykctl config edit"});
}

Outcome edit(Context& context, const std::string& message) {
    YK_TRY(before, kept_text(context, {}));
    EditedFile file{before};
    if (auto failure = file.failure()) return *std::move(failure);
    if (auto failure = run_editor(file.path())) return *std::move(failure);
    auto text = read_configuration(context, file.path());
    if (!text.ok()) return std::move(text).error();
    if (*text == before) {
        context.note("nothing was changed");
        return Exit::Ok;
    }
    si::UpdateConfigurationRequest request;
    request.config = *text;
    request.source = file.path();
    request.message = message;
    auto outcome = update_configuration(context, std::move(request));
    if (outcome.ok()) return outcome;
    return file.kept(with_problems(std::move(outcome).error(), file.path()));
}

} // namespace

void define_config_edit(Command config, Context& context) {
    const auto command = config.sub("edit", "change the active configuration in your editor (VISUAL, EDITOR)");
    const auto message = std::make_shared<std::string>();
    command.option("-m,--message", *message, "why, for config history");
    command.run([&context, message] { return edit(context, *message); });
}

} // namespace yk::cli
