# SPDX-License-Identifier: Apache-2.0
"""What held in the attack on revision 3a08490 beside its floods, each row in a short form: no descriptors, a full disk, clocks
that jump, a daemon that is stopped or killed, strangers at the door, broken files. Each test is named after its row."""
from daemon_support import *
from daemon_support.attacks import *

import concurrent.futures
import datetime
import glob
import random
import resource
import shutil
import tempfile
import warnings

import daemon_support

YKCTL = os.path.join(os.environ["YK_BIN"], "ykctl")
FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")


def ykctl(*words):
    return subprocess.run([YKCTL, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
                          env={**os.environ, "NO_COLOR": "1", "YKD": YKD})


@contextlib.contextmanager
def begun_by(line):
    """ykd is started by this line of a shell, which ends with `exec ykd ...`."""
    real = daemon_support.YKD
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with open(folder + "/ykd", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\n{line}\nexec {real} \"$@\"\n")
        os.chmod(folder + "/ykd", 0o755)
        daemon_support.YKD = folder + "/ykd"
        try:
            yield
        finally:
            daemon_support.YKD = real


def cpu_seconds(daemon):
    with open(f"/proc/{daemon.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_nofile_64_and_120_connections():
    with begun_by("ulimit -n 64"), Daemon() as daemon:
        old = daemon.client()
        before = descriptors(daemon)
        crowd = []
        for _ in range(120):
            peer = socket.socket(socket.AF_UNIX)
            peer.setblocking(False)
            peer.connect_ex(daemon.path)
            crowd.append(peer)
        until("all descriptors are taken", lambda: descriptors(daemon) >= 60)
        begin, used = time.monotonic(), cpu_seconds(daemon)
        for _ in range(20):
            old.get("Ping")
            old.get("Status")
            time.sleep(0.05)
        busy = (cpu_seconds(daemon) - used) / (time.monotonic() - begin)
        check(busy < 0.8, "it waits with", busy, "of a processor")
        for peer in crowd:
            peer.close()
        all_given_back(daemon, before, "the crowd", slack=4)
        daemon.client().get("Ping")


def test_it_takes_the_descriptors_that_it_may_have():
    """The soft limit of most shells is less than maxConnections."""
    with begun_by("ulimit -Sn 64; ulimit -Hn 4224"), Daemon() as daemon:
        soft, hard = resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)
        check(soft == hard == 4224, soft, hard)
        check("descriptors" not in daemon.text(), "they are enough")
    with begun_by("ulimit -n 4096"), Daemon() as daemon:
        check("need 4224 descriptors, and the process may have 4096" in daemon.text(), "it says when they are too few")


def test_full_disk_for_the_log_and_the_dump():
    """Files may have 16 KiB: as on a disk that is full, but for this process."""
    with begun_by("trap '' XFSZ\nulimit -f 16"), Daemon("--log-target", "@ykd.log", "--state-dir", "@.", wait=False) as daemon:
        until("it listens", lambda: os.path.exists(daemon.path))
        client = daemon.client()
        for number in range(150):
            client.register(f"rm:{number % 3}")
        for number in range(2):
            client.change("UpdateNode", {"rmID": f"rm:{number}", "nodes": [
                {"nodeID": f"n{i}", "action": 1, "schedulableResource": {"vcore": 1000}} for i in range(500)]})
        log = daemon.folder + "/ykd.log"
        check(os.path.getsize(log) <= 16384, os.path.getsize(log))
        client.get("Sync", {"rmID": "rm:1"})
        daemon.signal(signal.SIGUSR1)
        until("no dump is left", lambda: not glob.glob(daemon.folder + "/dump-*") and client.get("Ping") is not None)
        failed = [each["DiagnosisMessage"] for each in client.get("Health", {"run": True})["HealthChecks"] if not each["Succeeded"]]
        check(len(failed) == 1 and "the audit log" in failed[0] and "cannot be written" in failed[0], failed)
        daemon.signal(signal.SIGTERM)
        check(daemon.exit_code() == 0)
        check(not glob.glob(daemon.folder + "/*dump*"), os.listdir(daemon.folder))


def test_full_disk_from_the_start():
    with Daemon("--log-target", "/dev/full", wait=False) as daemon:
        def listens():
            with socket.socket(socket.AF_UNIX) as probe:
                return probe.connect_ex(daemon.path) == 0
        until("it listens or has ended", lambda: listens() or daemon.process.poll() is not None)
        if daemon.process.poll() is None:
            daemon.client().get("Ping")
        else:
            check(daemon.exit_code() == 1 and "/dev/full" in daemon.text(), daemon.exit_code(), daemon.text())


def test_clock_jumps_have_no_effect():
    if not FAKETIME:
        print("SKIP: the package faketime is not installed, so no clock jumped (./dev test installs it)")
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        def set_clock(shift):
            with open(folder + "/new", "w", encoding="ascii") as file:
                file.write(shift)
            os.rename(folder + "/new", folder + "/clock")
        set_clock("+0")
        with Daemon(env={"LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": folder + "/clock", "FAKETIME_NO_CACHE": "1",
                         "FAKETIME_DONT_FAKE_MONOTONIC": "1"}) as daemon:
            client = daemon.client()
            client.register()
            client.cluster()
            now = lambda: client.get("Dump", {"what": "partitions"})["asOf"] / 1e9
            begin = now()
            check(abs(begin - time.time()) < 600, "the clock was changed before it jumped")
            for number, shift in enumerate(("+1d", "-1d", "+10y", "-20y", "+400d")):
                set_clock(shift)
                client.asks(f"k{number}")
                until("it is placed", lambda wanted=number + 1: client.get("Status")["counts"]["allocations"] == wanted)
                check(-1 < now() - begin < 600, shift, "moved it by", now() - begin)
                begin_of_poll = time.monotonic()
                client.get("Ping")
                check(time.monotonic() - begin_of_poll < 10)
            check(client.get("Status")["sessions"] == 1 and client.get("Health", {"run": True})["Healthy"])


def test_sigstop_with_requests_on_their_way():
    with Daemon("--settings", "@conf", files={"conf": "livenessTimeout: 1s\n"}) as daemon:
        client, other = daemon.client(), daemon.client()
        client.register()
        client.cluster()
        client.get("Sync", {"rmID": "rm:1"})
        poller = Client(daemon.path)
        poller.sid, poller.epoch = client.sid, client.epoch
        ack = poller.poll(0)["items"][-1]["n"]
        poller.send("Poll", {"rmID": "rm:1", "streamEpoch": client.epoch, "ack": ack, "waitMs": 15000})
        other.wait_for_parked_poll()
        daemon.signal(signal.SIGSTOP)
        for _ in range(5):
            other.send("Ping")
        client.seq += 1
        client.send("UpdateAllocation", {"rmID": "rm:1", "asks": [
            {"allocationKey": "k", "applicationID": "app", "resourceAsk": {"vcore": 1}}]}, seq=client.seq, ttl=5000)
        time.sleep(2)  # of silence, longer than an RM may be silent
        daemon.signal(signal.SIGCONT)
        for _ in range(5):
            check(other.receive()["ok"])
        check(client.receive()["ok"], "the update was lost")
        reply = poller.receive()
        check(reply["ok"], "the poll was lost")
        until("k is placed", lambda: other.get("Status")["counts"]["allocations"] == 1)
        ack = reply["body"]["items"][-1]["n"] if reply["body"]["items"] else ack
        until("the RM is told of k", lambda: listed([(one["kind"], one["body"]) for one in [
            *reply["body"]["items"], *poller.poll(ack, wait=100)["items"]]], "UpdateAllocation", "new"))


def test_stopped_for_longer_than_sessions_last():
    with Daemon("--settings", "@conf", files={"conf": "livenessTimeout: 5s\nsessionTtl: 6s\n"}) as daemon:
        client = daemon.client()
        client.register()
        daemon.signal(signal.SIGSTOP)
        time.sleep(8)  # in which the RM could not be heard
        daemon.signal(signal.SIGCONT)
        for _ in range(10):
            check(client.get("Status")["rms"][0]["state"] == 1, daemon.text())  # Running
        check(client.dump("streams", rmID="rm:1")[0]["epoch"] == client.epoch)


def test_sigkill_under_load_with_a_recording():
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        flags = ["--record", folder + "/records", "--pidfile", folder + "/pid"]
        place = folder + "/s"
        for lap in range(5):
            process = subprocess.Popen([daemon_support.YKD, "--listen", "ipc://" + place, *flags], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                def reached():
                    with contextlib.suppress(OSError, EOFError):
                        return Client(place)
                    return None
                client = until("it serves the socket that was left", reached)
                client.hello()
                client.register(f"rm:{lap}")
                client.cluster(f"rm:{lap}", vcore=1_000_000)
                for number in range(30):
                    client.asks(*(f"k{number}-{i}" for i in range(30)), rm=f"rm:{lap}")
                client.send("Poll", {"rmID": f"rm:{lap}", "streamEpoch": client.epoch, "ack": 0, "waitMs": 0})
                process.kill()
                try:
                    while True:
                        client.receive()
                except (EOFError, ConnectionError):
                    pass
            finally:
                process.kill()
                process.wait()
        done = ykctl("recording", "verify", "-o", "jsonl", folder + "/records")
        check(done.returncode == 0 and done.stdout.count('"same":true') == 5, done.returncode, done.stdout, done.stderr)


def openssl(folder, *arguments, env=None):
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False, env=env)
    check(done.returncode == 0, done.stderr)


def certificate(folder, name, *more):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost", "-keyout", name + ".key", "-out", name + ".pem", *(more or ("-days", "2")))


def certificate_until(folder, name, year, serial, ca="ca"):
    """Of the CA, from 2020 on: openssl ca takes dates, req of Debian 12 does not."""
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
    with open(folder + "/ca.conf", "w", encoding="ascii") as file:
        file.write("[ca]\ndefault_ca = d\n[d]\ndatabase = ./index\nnew_certs_dir = .\nserial = ./serial\ndefault_md = sha256\n"
                   "policy = p\n[p]\ncommonName = supplied\n")
    for made, text in (("index", ""), ("serial", serial + "\n")):
        with open(f"{folder}/{made}", "w", encoding="ascii") as file:
            file.write(text)
    openssl(folder, "ca", "-batch", "-config", "ca.conf", "-cert", ca + ".pem", "-keyfile", ca + ".key", "-in", name + ".csr",
            "-out", name + ".pem", "-startdate", "20200101000000Z", "-enddate", f"{year}0102000000Z", "-notext")


def is_let_in(port, context):
    try:
        client = Client(("127.0.0.1", port), tls=context)
        return client.hello(role="observer")["role"] == "observer"
    except (ssl.SSLError, EOFError, ConnectionError):
        return False


def test_tls_silent_connections_and_certificates():
    folder = tempfile.mkdtemp(prefix="yk.", dir="/tmp")
    try:
        for name in ("server", "ca", "own"):
            certificate(folder, name)
        certificate_until(folder, "good", 2049, "01")
        certificate_until(folder, "late", 2020, "02")
        port = free_port()
        with Daemon("--listen", f"tls+tcp://127.0.0.1:{port}", "--tls-cert", folder + "/server.pem", "--tls-key",
                    folder + "/server.key", "--tls-client-ca", folder + "/ca.pem") as daemon:
            before = descriptors(daemon)
            silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]

            def context(name=None, highest=None):
                made = ssl.create_default_context(cafile=folder + "/server.pem")
                if name is not None:
                    made.load_cert_chain(f"{folder}/{name}.pem", f"{folder}/{name}.key")
                if highest is not None:
                    warnings.simplefilter("ignore", DeprecationWarning)  # that is why it is tried
                    made.minimum_version = ssl.TLSVersion.TLSv1
                    made.maximum_version = highest
                    made.set_ciphers("ALL:@SECLEVEL=0")
                return made
            check(is_let_in(port, context("good")), "a good certificate, beside 300 silent connections")
            check(not is_let_in(port, context()), "no certificate")
            check(not is_let_in(port, context("own")), "a certificate of its own")
            check(not is_let_in(port, context("late")), "an expired certificate")
            check(not is_let_in(port, context("good", ssl.TLSVersion.TLSv1_1)), "TLS 1.1")
            daemon.client().get("Ping")
            for peer in silent:
                peer.close()
            all_given_back(daemon, before, "the silent ones")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_tokens_none_empty_wrong_and_with_a_newline():
    import hashlib
    port = free_port()
    line = f"admin * {hashlib.sha256(b'hush').hexdigest()}\n"
    with Daemon("--listen", f"tcp://127.0.0.1:{port}", "--tokens", "@tokens", files={"tokens": line}) as daemon:
        for more in ({}, {"token": ""}, {"token": "hush\n"}, {"token": "hus"}):  # the fifth is cut
            guest = Client(("127.0.0.1", port))
            reply = guest.ask("Hello", {"min": 1, "max": 1, "client": "t", "role": "observer", **more})
            check(not reply["ok"] and reply["err"]["name"] in ("E_AUTH", "E_INVALID"), more, reply)
            guest.close()
        daemon.client().get("Ping")


def test_rm_ids_that_are_paths_with_a_recording():
    with Daemon("--record", "@records/deep") as daemon:
        client = daemon.client()
        before = sorted(os.listdir(daemon.folder))
        for rm in ("../../../evil", "/etc/x", "..", ".", "a/b", "%2e%2e%2fx", "~", "-rf"):
            client.register(rm)
        made = glob.glob(daemon.folder + "/records/deep/**", recursive=True)
        check(len([name for name in made if name.endswith(".ykrec")]) == 8, made)
        check(sorted(os.listdir(daemon.folder)) == before and os.listdir(daemon.folder + "/records") == ["deep"], "files beside it")
        check(all(os.path.dirname(name) == daemon.folder + "/records/deep" for name in made if name.endswith(".ykrec")), made)


def mutations(seed, text, count):
    generator = random.Random(seed)
    for _ in range(count):
        data = bytearray(text)
        for _ in range(generator.randrange(1, 6)):
            at = generator.randrange(len(data))
            change = generator.randrange(4)
            if change == 0:
                data[at] = generator.randrange(256)
            elif change == 1:
                del data[at:at + generator.randrange(1, 40)]
            elif change == 2:
                data[at:at] = data[generator.randrange(len(data)):][:generator.randrange(1, 200)]
            else:
                del data[at:]
            data = data or bytearray(b"x")
        yield bytes(data)


def test_files_that_are_broken_are_told_of():
    """Recordings, configurations, traces and scenarios, each changed at random: exit status 0, 1, 2 or 8, and no crash."""
    seed = int(os.environ.get("YK_SEED", "7"))
    print("seed", seed)
    here = os.path.dirname(os.path.abspath(__file__))
    trace = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" + "".join(
        f"pod-{i},{1000 + i},{512 * i},0,0,,LS,Running,{i},{i + 50},{i}\n" for i in range(20))
    nodes = "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(f"node-{i},32000,131072,0,\n" for i in range(3))
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        with Daemon("--record", folder + "/records") as daemon:
            client = daemon.client()
            client.register()
            client.cluster()
            client.asks(*(f"k{i}" for i in range(20)))
            client.get("Sync", {"rmID": "rm:1"})
            (recording,) = glob.glob(folder + "/records/*.ykrec")
            with open(recording, "rb") as file:
                recorded = file.read()
        with open(sorted(glob.glob(here + "/../scenarios/**/*.yaml", recursive=True))[0], "rb") as file:
            scenario = file.read()
        kept = folder + "/nodes.csv"
        with open(kept, "w", encoding="ascii") as file:
            file.write(nodes)
        runs = []

        def add(name, text, count, *commands):
            for number, data in enumerate(mutations(seed, text, count)):
                path = f"{folder}/{number}.{name}"
                with open(path, "wb") as file:
                    file.write(data)
                runs.extend([word.replace("FILE", path) for word in command] for command in commands)
        add("ykrec", recorded, 60, ["recording", "verify", "FILE"], ["recording", "play", "FILE"])
        add("yaml", CONFIG.encode() * 2, 40, ["config", "check", "--offline", "FILE"])
        add("csv", trace.encode(), 20, ["replay", "--spawn", "--pods", "FILE", "--nodes", kept])
        add("scenario.yaml", scenario, 15, ["scenario", "run", "--spawn", "FILE"])
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for words, done in zip(runs, pool.map(lambda words: ykctl(*words), runs)):
                check(done.returncode in (0, 1, 2, 8), words, done.returncode, done.stderr)
                check(len(done.stderr) < 100_000, words, "said", len(done.stderr), "bytes")


main(globals())
