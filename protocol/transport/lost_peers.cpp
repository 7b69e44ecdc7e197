#include "protocol/transport/lost_peers.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

void yk::wire::keep_listening_after_lost_peers() noexcept {}

/// That of the C library, but for the name of one error: a lost peer is what ECONNRESET says, too.
extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
    const long sent = ::syscall(SYS_sendmsg, socket, message, flags);
    if (sent < 0 && errno == EPIPE) errno = ECONNRESET;
    return sent;
}
