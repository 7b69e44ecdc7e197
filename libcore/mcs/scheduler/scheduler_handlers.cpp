// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/scheduler_handlers.h"

namespace yk::mcs {

using rs::EventContext;
using rs::HandlerResult;
using rs::Ptr;

HandlerResult ScheduledDeploymentHandler::on_add(const EventContext& context, const Ptr<Deployment>& deployment) {
    return scheduler().rows().update(deployment->meta.id, turn_of(context), report(context));
}

HandlerResult ScheduledDeploymentHandler::on_delete(const EventContext& context, const Ptr<Deployment>& last) {
    return scheduler().rows().remove(last->meta.id, last->meta.uid, turn_of(context), report(context));
}

HandlerResult ScheduledScaleHandler::on_add(const EventContext& context, const Ptr<DeploymentScale>& scale) {
    return scheduler().rows().update(scale->meta.id, turn_of(context), report(context));
}

/// While the Deployment lives the Autoscaler makes the scale again, and its replicas stay.
HandlerResult ScheduledScaleHandler::on_delete(const EventContext& context, const Ptr<DeploymentScale>& last) {
    const Ptr<Deployment> owner = deployments_.get(last->meta.id);
    if (owner && owner->meta.uid == last->owner.uid) return HandlerResult::ok();
    return scheduler().rows().remove(last->meta.id, last->owner.uid, turn_of(context), report(context));
}

HandlerResult ScheduleHandler::on_add(const EventContext& context, const Ptr<DeploymentSchedule>& schedule) {
    return scheduler().rows().row_changed(*schedule, turn_of(context), report(context));
}

HandlerResult ScheduleHandler::on_delete(const EventContext& context, const Ptr<DeploymentSchedule>& last) {
    return scheduler().rows().row_deleted(last->meta, turn_of(context), report(context));
}

HandlerResult NodeHandler::on_add(const EventContext& /*context*/, const Ptr<Node>& node) {
    scheduler().node_changed(node->meta.id);
    return HandlerResult::ok();
}

HandlerResult NodeHandler::on_delete(const EventContext& /*context*/, const Ptr<Node>& last) {
    scheduler().node_changed(last->meta.id);
    return HandlerResult::ok();
}

} // namespace yk::mcs
