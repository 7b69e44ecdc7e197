# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests of TLS."""
import subprocess

from daemon_support import check


def openssl(folder, *arguments):
    ran = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    check(ran.returncode == 0, ran.stderr)


def make_certificate(folder, name):
    """NAME.pem and NAME.key, for localhost, signed by itself."""
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost", "-keyout", name + ".key", "-out", name + ".pem")
