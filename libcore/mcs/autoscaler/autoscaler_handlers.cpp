// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/autoscaler/autoscaler_handlers.h"

namespace yk::mcs {

using rs::EventContext;
using rs::HandlerResult;
using rs::Ptr;

HandlerResult DeploymentHandler::on_add(const EventContext& context, const Ptr<Deployment>& deployment) {
    return update(context, deployment->meta.id);
}

HandlerResult DeploymentHandler::on_update(const EventContext& context, const Ptr<Deployment>& /*old*/,
                                           const Ptr<Deployment>& current) {
    return update(context, current->meta.id);
}

HandlerResult DeploymentHandler::on_delete(const EventContext& context, const Ptr<Deployment>& last) {
    return autoscaler().remove(*last, turn_of(context), done(context));
}

/// A row that this process wrote needs no second look, or every write would ask for the next one.
HandlerResult DeploymentScaleHandler::on_add(const EventContext& context, const Ptr<DeploymentScale>& scale) {
    return autoscaler().is_known(*scale) ? HandlerResult::ok() : update(context, scale->meta.id);
}

HandlerResult DeploymentScaleHandler::on_update(const EventContext& context, const Ptr<DeploymentScale>& /*old*/,
                                                const Ptr<DeploymentScale>& current) {
    return on_add(context, current);
}

/// While the Deployment lives, the scale is made again: a person has deleted it.
HandlerResult DeploymentScaleHandler::on_delete(const EventContext& context, const Ptr<DeploymentScale>& last) {
    autoscaler().on_deleted(*last);
    return update(context, last->meta.id);
}

} // namespace yk::mcs
