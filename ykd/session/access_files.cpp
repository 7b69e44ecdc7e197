// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/access_files.h"

#include "ykd/process/log.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

Result<void> AccessFiles::load(bool only_try) {
    std::vector<TokenRule> tokens;
    if (!settings_.tokens_file.empty()) {
        YK_TRY(read, read_tokens(settings_.tokens_file));
        tokens = std::move(read);
    }
    DaemonSettings read_anew;
    if (!settings_.settings_file.empty()) {
        const auto read = read_settings(settings_.settings_file, read_anew);
        if (!read.ok()) {
            for (const Error& fault : read.error().all) log("core.config").warn("settings: {}", fault.text());
            return Error::of(read.error().text());
        }
    }
    if (!only_try)
        access_.set_rules(settings_.settings_file.empty() ? settings_.peers : read_anew.peers, std::move(tokens));
    return {};
}

std::string AccessFiles::reread(bool only_try) {
    const auto loaded = load(only_try);
    std::string refusal = loaded.ok() ? std::string{} : loaded.error().text();
    if (only_try) return refusal;
    const std::lock_guard lock(mutex_);
    last_ = ReloadNote{real_now(), refusal};
    return refusal;
}

std::optional<ReloadNote> AccessFiles::last_reread() const {
    const std::lock_guard lock(mutex_);
    return last_;
}

} // namespace yk::service
