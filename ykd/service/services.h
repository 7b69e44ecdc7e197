#pragma once
// One function per request kind (interface.md 4.6). Each answers the call, now or later. Worker threads.

#include "ykd/service/call.h"

namespace yk::service {

// session.cpp
void hello(const CallPtr& call);
void bye(const CallPtr& call);
void ping(const CallPtr& call);
void status(const CallPtr& call);
// registration.cpp
void register_rm(const CallPtr& call);
void unregister_rm(const CallPtr& call);
// configuration.cpp
void update_configuration(const CallPtr& call);
void validate_configuration(const CallPtr& call);
void set_extra_config(const CallPtr& call);
// reload.cpp
void reload_configuration(const CallPtr& call);
// updates.cpp
void update_allocation(const CallPtr& call);
void update_application(const CallPtr& call);
void update_node(const CallPtr& call);
// stream.cpp
void poll(const CallPtr& call);
void sync(const CallPtr& call);
void stream_log(const CallPtr& call);
void call_result(const CallPtr& call);
// admin.cpp
void step(const CallPtr& call);
void advance_clock(const CallPtr& call);
void shut_down(const CallPtr& call);
// dump.cpp
void dump(const CallPtr& call);
// events.cpp
void events(const CallPtr& call);
void event_stream(const CallPtr& call);
// explain.cpp
void explain(const CallPtr& call);
// metrics.cpp
void metrics(const CallPtr& call);
// health.cpp
void health(const CallPtr& call);

} // namespace yk::service
