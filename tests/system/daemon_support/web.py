# SPDX-License-Identifier: Apache-2.0
"""A client of HTTP, for daemons and what stands beside them."""
import http.client
import json

from daemon_support import DEADLINE, Daemon, check, free_port


class Web:
    """Asks who listens at `port` of this machine, with a connection for each request."""

    def __init__(self, port, tls=None):
        self.port, self.tls = port, tls

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port, timeout=DEADLINE, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)

    def ask(self, path, method="GET", body=None, **headers):
        """Status, headers, body."""
        connection = self.connection()
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, body = self.ask("/ws/v1/" + path, **headers)
        check(status == 200, path, status, body[:300])
        return json.loads(body)

    def refused(self, wanted, path, **more):
        status, _, body = self.ask("/ws/v1/" + path, **more)
        check(status == wanted, path, "wanted", wanted, "got", status, body[:300])
        return body.decode()


def web_daemon(*flags, **more):
    """A daemon that answers HTTP, and its client."""
    port = free_port()
    return Daemon("--http", f"127.0.0.1:{port}", *flags, **more), Web(port)
