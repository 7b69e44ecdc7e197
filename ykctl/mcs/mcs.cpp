// SPDX-License-Identifier: Apache-2.0
// The commands of the noun mcs, and mcs status: what keeps deployments in step with the database, and whether that is
// well.

#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/mcs/check.h"
#include "ykctl/mcs/node.h"
#include "ykctl/mcs/operations.h"
#include "ykctl/mcs/status_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {

void define_mcs(Command root, Context& context) {
    const auto noun = root.sub("mcs", "what keeps deployments in step with ykd's database");
    const auto status_command = noun.sub("status", "the database, kinds of rows, and who leads");
    define_show_and_watch(status_command, context, [&context]() -> Answer<Shown> {
        YK_TRY(status, context.call(si::McsReadRequest{.what = "status"}));
        return Shown{status, text_of(status, "state"), mcs_status_text(status, context.style())};
    });
    define_mcs_operations(noun, context);
    define_mcs_check(noun, context);
    define_mcs_node(noun, context);
}

} // namespace yk::cli
