# SPDX-License-Identifier: Apache-2.0
"""Brokers of Kafka as librdkafka has them for tests, in a process of their own (tests/support/brokers/mock_kafka_program), at 127.0.0.1
and ports that were free. They have all in memory: a process that is killed does not come back, while down() and up() are an outage that
loses nothing."""
import os
import subprocess

from daemon_support import check, kill

PROGRAM = os.path.join(os.environ["YK_BIN"], "mock_kafka")


def is_built():
    """Whether there is such a program: not where librdkafka is not installed. In CI it must be there."""
    return os.path.exists(PROGRAM) or os.environ.get("CI") == "true"


class Kafka:
    """Ended by the with statement, and with the test, also when that is killed."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.place = self.process.stdout.readline().strip()
        check(self.place, "mock_kafka does not say where it is")

    def command(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        check(self.process.stdout.readline() == "done\n", "mock_kafka has not done:", word)

    def down(self):
        self.command("down")

    def up(self):
        self.command("up")

    def kill(self):
        kill(self.process)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.kill()
        self.process.stdin.close()
        self.process.stdout.close()
