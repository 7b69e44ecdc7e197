// SPDX-License-Identifier: Apache-2.0
#pragma once
// DetachedRestore: brings the detached RMs of an earlier daemon back from their books, before the daemon listens. Each
// recovers as any RM does: it is registered with recovery and the configuration it had, replays what it has, and both
// sides are compared (docs/spec/interface.md, section 3). One that fails stays Failed, for `ykctl recovery`.
//
// Owner: Daemon. Thread: the one that starts the daemon, which waits for the owner threads.

#include "ykd/configuration/config_files.h"
#include "ykd/service/rm_installer.h"

namespace yk::service {

class DetachedRestore {
public:
    struct Parts {
        RmRegistry& registry;
        const RmInstaller& installer;
        const ConfigFiles& config_files;
        ConfigHistory& history;
        BookShelf& books;
        Degraded& degraded;
    };
    explicit DetachedRestore(const Parts& parts) : parts_(parts) {}

    void restore_all();

private:
    void restore(FoundBooks found);
    [[nodiscard]] Result<RmWish> wish_of(FoundBooks& found) const;
    void fail(const std::string& rm_id, const std::string& why);

    const Parts parts_;
};

} // namespace yk::service
