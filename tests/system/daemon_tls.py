# SPDX-License-Identifier: Apache-2.0
"""tcp needs a token, tls+tcp works with nng's engine, certificates of clients are asked for, and only those of the right
authority and time are taken (I-341, I-342); what a session of role rm sees (I-412)."""
from daemon_support import *

import hashlib
import shutil
import tempfile

from daemon_support.certificates import make_certificate, openssl


def tokens(role, secret):
    pattern = "spark-*" if role == "rm" else "*"  # an admin may do everything
    return f"# for the test\n{role} {pattern}  {hashlib.sha256(secret.encode()).hexdigest()}\n"


def test_tcp_takes_tokens_only():
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": tokens("rm", "hush")}) as daemon:
        client = Client(("127.0.0.1", port))
        start = time.monotonic()
        client.refused("E_AUTH", "Hello", {"min": 1, "max": 1, "client": "t", "role": "rm"})
        check(time.monotonic() - start > 0.4, "a refusal must take its time")
        check(client.hello(role="rm", token="hush")["role"] == "rm")
        client.register("spark-1")
        client.refused("E_FORBIDDEN", "RegisterResourceManager", {"rmID": "other"}, mutating=True)
        client.refused("E_FORBIDDEN", "Hello", {"min": 1, "max": 1, "client": "t", "role": "admin", "token": "hush"})
        local = Client(daemon.path)
        local.sid = client.sid
        local.refused("E_AUTH", "Ping")
        guesser = Client(("127.0.0.1", port))
        for number in range(3):
            guesser.refused("E_AUTH", "Hello", {"min": 1, "max": 1, "client": "t", "role": "rm", "token": str(number)})
        guesser.send("Hello", {"min": 1, "max": 1, "client": "t", "role": "rm", "token": "x"})
        try:
            guesser.receive()
            raise AssertionError("five failures within a minute did not close the connection")
        except (EOFError, ConnectionError):
            pass
        check("hush" not in daemon.text(), "a token is in the log")
        client.get("Ping")


def test_a3_a_peer_that_never_shakes_hands_costs_ykctl_no_more_than_its_time():
    with tempfile.TemporaryDirectory(prefix="yk.", dir="/tmp") as place, socket.socket() as silent:
        make_certificate(place, "ca")
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        begin = time.monotonic()
        ran = subprocess.run([os.path.join(os.environ["YK_BIN"], "ykctl"), "-s", f"tls+tcp://localhost:{silent.getsockname()[1]}",
                              "--tls-ca", place + "/ca.pem", "--timeout", "1s", "ping"], capture_output=True, text=True,
                             timeout=DEADLINE, check=False)
        check(ran.returncode == 3 and time.monotonic() - begin < 10, ran.returncode, ran.stderr)


def test_a_session_of_role_rm_sees_the_objects_of_its_own_rms():  # I-412
    port = free_port()
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": tokens("rm", "hush")}) as daemon:
        other = daemon.client()
        other.register("other")
        mine = Client(("127.0.0.1", port))
        mine.hello(role="rm", token="hush")
        mine.register("spark-1")
        rms = lambda found: [one["clusterId"] for one in found]
        check(rms(mine.dump("partitions")) == ["other", "spark-1"], "names and totals are for all")
        check(rms(mine.dump("nodes")) == ["spark-1"])
        check(mine.dump("config")["rmID"] == "spark-1")
        check(mine.dump("queue", queue="root.a")["queuename"] == "root.a", "there is only one that it sees")
        why = mine.refused("E_FORBIDDEN", "Dump", {"what": "nodes", "rmID": "other"})["message"]
        check("match spark-*, which RM other does not; say hello as observer" in why, why)
        check("observer" in mine.refused("E_FORBIDDEN", "Explain", {"what": "queue", "queue": "root.a", "rmID": "other"})["message"])
        check(mine.get("Explain", {"what": "queue", "queue": "root.a"})["details"]["rmID"] == "spark-1")
        for kind, more in (("RecoveryList", {"kind": "nodes"}), ("ResolveRecovery", {"action": "abort"})):
            mutating = kind == "ResolveRecovery"
            mine.refused("E_FORBIDDEN", kind, {"rmID": "other", **more}, mutating=mutating)
            mine.refused("E_FORBIDDEN", kind, {"rmID": "other", "impersonate": True, **more}, mutating=mutating)
        check(mine.get("RecoveryList", {"rmID": "spark-1", "kind": "nodes"})["items"] == [])
        check("observer" in mine.refused("E_FORBIDDEN", "StreamLog", {"rmID": "other"})["message"])
        check("observer" in mine.refused("E_FORBIDDEN", "ValidateConfiguration", {"rmID": "other", "config": CONFIG, "diff": True})["message"])
        check(mine.get("ValidateConfiguration", {"config": CONFIG, "diff": True})["allowed"], "there is only one that it sees")
        mine.refused("E_FORBIDDEN", "Dump", {"what": "apps", "partition": "[other]default"})
        check(rms(mine.dump("full")["nodes"]) == ["spark-1"])
        mine.hello(role="observer", token="hush")
        check(rms(mine.dump("nodes")) == ["other", "spark-1"])


def come_and_go(port, context, number):
    """A port scanner: gone before, during or after the handshake, politely or not; nobody else is to notice."""
    scanner = socket.create_connection(("127.0.0.1", port))
    if number % 4 == 1:
        scanner.sendall(b"\x16\x03\x01")
    if number % 4 >= 2:
        scanner = context.wrap_socket(scanner, server_hostname="localhost")
    if number % 4 == 2:
        try:
            scanner.unwrap()
        except (ssl.SSLError, OSError):
            pass
    scanner.close()


def test_tls():
    port, strict = free_port(), free_port()
    place = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    try:
        for name in ("server", "user"):
            make_certificate(place, name)
        flags = ["--tls-cert", place + "/server.pem", "--tls-key", place + "/server.key"]
        os.chmod(place + "/server.key", 0o644)
        with Daemon("--listen", f"tls+tcp://127.0.0.1:{port}", "--tokens", "@tokens", *flags,
                    files={"tokens": tokens("admin", "hush")}) as daemon:
            check("server.key is open to others (mode 0644)" in daemon.text(), "A10: a key for all is not warned of")
            context = ssl.create_default_context(cafile=place + "/server.pem")
            for number in range(40):
                come_and_go(port, context, number)
            client = Client(("127.0.0.1", port), tls=context)
            check(client.hello(token="hush")["role"] == "admin")
            client.get("Status")
        os.chmod(place + "/server.key", 0o600)
        with Daemon("--listen", f"tls+tcp://127.0.0.1:{strict}", *flags, "--tls-client-ca", place + "/user.pem") as daemon:
            check("open to others" not in daemon.text())
            bare = ssl.create_default_context(cafile=place + "/server.pem")
            try:
                Client(("127.0.0.1", strict), tls=bare)
                raise AssertionError("a client without a certificate was let in")
            except (ssl.SSLError, EOFError, ConnectionError):
                pass
            bare.load_cert_chain(place + "/user.pem", place + "/user.key")
            client = Client(("127.0.0.1", strict), tls=bare)
            check(client.hello(role="observer")["role"] == "observer")
    finally:
        shutil.rmtree(place, ignore_errors=True)


CA_SETTINGS = """[ca]
default_ca = one
[one]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
"""


def make_authority(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext",
            "basicConstraints=critical,CA:TRUE", "-keyout", name + ".key", "-out", name + ".pem")


def make_signed(folder, name, authority, *dates):
    """A certificate of a user; `dates`: from when until when, in the form of `openssl ca`."""
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
    if not dates:
        return openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", authority + ".pem", "-CAkey", authority + ".key",
                       "-CAcreateserial", "-days", "2", "-out", name + ".pem")
    for file, text in (("ca.cnf", CA_SETTINGS), ("index", ""), ("serial", "01\n")):
        with open(f"{folder}/{file}", "w", encoding="ascii") as made:
            made.write(text)
    return openssl(folder, "ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", authority + ".pem", "-keyfile", authority + ".key",
                   "-in", name + ".csr", "-out", name + ".pem", "-startdate", dates[0], "-enddate", dates[1])


def is_taken(port, context):
    """Whether the daemon talks to a client with this certificate: with TLS 1.3 a refusal comes after the handshake."""
    try:
        client = Client(("127.0.0.1", port), tls=context)
        check(client.hello(role="observer")["role"] == "observer")
        client.get("Status")
        return True
    except (ssl.SSLError, EOFError, ConnectionError):
        return False


def test_certificates_of_clients():
    port, place = free_port(), tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    try:
        make_certificate(place, "server")
        for authority in ("ours", "theirs"):
            make_authority(place, authority)
        make_signed(place, "good", "ours")
        make_signed(place, "foreign", "theirs")
        make_signed(place, "expired", "ours", "20200101000000Z", "20200102000000Z")
        make_signed(place, "early", "ours", "20960101000000Z", "20970102000000Z")
        flags = ["--tls-cert", place + "/server.pem", "--tls-key", place + "/server.key", "--tls-client-ca", place + "/ours.pem"]
        with Daemon("--listen", f"tls+tcp://127.0.0.1:{port}", "--tokens", "@tokens", *flags,
                    files={"tokens": tokens("rm", "hush")}) as daemon:
            for name, taken in (("good", True), (None, False), ("foreign", False), ("expired", False), ("early", False), ("good", True)):
                context = ssl.create_default_context(cafile=place + "/server.pem")
                if name:
                    context.load_cert_chain(f"{place}/{name}.pem", f"{place}/{name}.key")
                check(is_taken(port, context) == taken, name, "is let in" if not taken else "is not let in")
            client = Client(("127.0.0.1", port), tls=context)  # a certificate alone is role observer, a token raises it
            client.refused("E_FORBIDDEN", "Hello", {"min": 1, "max": 1, "client": "t", "role": "rm"})
            check(client.hello(role="rm", token="hush")["role"] == "rm")
            daemon.client().get("Ping")
    finally:
        shutil.rmtree(place, ignore_errors=True)


main(globals())
