"""Measures transfers of one large file, each program in a process of its own, by turns.

    transfers.py PROBE LINK [--rounds N] [--mib N] [--rate N] [--programs FOLDER] [--cases CASE…]

PROBE is Tests/TransferProbe, LINK Reference/link.c, FOLDER has the programs of Tests/Services/transfer-requirements.txt.
On stdout a JSON object a line for each measurement and each median, on stderr a table. run.sh calls this.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

DELAY = 20
CONNECTIONS = 16
PART = 8 << 20
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI"

S3TRANSFER = """
import sys, boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
kind, url, path, key, secret = sys.argv[1:]
client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key=secret,
                      config=Config(max_pool_connections=16, s3={"addressing_style": "path"}))
config = TransferConfig(multipart_threshold=8 << 20, multipart_chunksize=8 << 20, max_concurrency=16)
if kind == "upload":
    client.upload_file(path, "films", "film", Config=config)
else:
    client.download_file("films", "film", path, Config=config)
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


@contextlib.contextmanager
def running(command, port, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        wait_for(port)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        process.kill()


def own_memory(pid):
    """The resident memory of a process and its children that is in no file: without programs and libraries. In MiB."""
    total = 0
    with contextlib.suppress(OSError, ValueError):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        total += sum(own_memory(child) for child in children)
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                total += int(line.split()[1]) / 1024
    return total


def measure(command, folder):
    """The seconds, the seconds of processor time, the resident memory at most, and how much of it is in no file."""
    # rclone 1.60 refuses to start with a bundle of authorities of the environment.
    environment = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
    begin = time.monotonic()
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, env=environment)
        own, ended = [0.0], threading.Event()

        def sample():
            while not ended.wait(0.01):
                own[0] = max(own[0], own_memory(process.pid))

        sampler = threading.Thread(target=sample)
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        ended.set()
        sampler.join()
    if status != 0:
        raise SystemExit(f"{command}: {status}\n{(folder / 'output').read_text(errors='replace')[-2000:]}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024, "own": own[0]}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.size = arguments.mib << 20
        self.served = folder / "served"
        self.served.mkdir(mode=0o755)
        self.film = self.served / "film"
        with open(self.film, "wb") as file:
            for _ in range(arguments.mib):
                file.write(os.urandom(1 << 20))
        self.digest = digest(self.film)
        self.probe = arguments.probe

    # --- Servers

    @contextlib.contextmanager
    def nginx(self):
        port = free_port()
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in
                             ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(
            f"daemon off; {'user root;' if os.geteuid() == 0 else ''} worker_processes 1; pid {self.folder}/pid;"
            f"error_log {self.folder}/error.log; events {{ worker_connections 1024; }}"
            f"http {{ access_log off; sendfile on; {temporary} server {{ listen 127.0.0.1:{port}; root {self.served}; }} }}")
        path = os.environ["PATH"] + ":/usr/sbin"
        with running([shutil.which("nginx", path=path), "-e", str(self.folder / "error.log"), "-c", str(self.folder / "nginx.conf")], port):
            yield port

    @contextlib.contextmanager
    def seaweed(self):
        ports = [free_port() for _ in range(8)]
        data = self.folder / "data"
        data.mkdir()
        (self.folder / "s3.json").write_text(json.dumps({"identities": [{
            "name": "bench", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin", "Read", "Write", "List"]}]}))
        command = [
            f"{self.arguments.programs}/weed", "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-master.port={ports[0]}", f"-master.port.grpc={ports[1]}", f"-volume.port={ports[2]}",
            f"-volume.port.grpc={ports[3]}", "-volume.max=100", "-master.volumeSizeLimitMB=512", "-filer",
            f"-filer.port={ports[4]}", f"-filer.port.grpc={ports[5]}", "-s3", f"-s3.port={ports[6]}",
            f"-s3.port.grpc={ports[7]}", f"-s3.config={self.folder}/s3.json", "-s3.port.iceberg=0", "-s3.port.lance=0"]
        with running(command, ports[6], env={**os.environ, "HOME": str(self.folder)}):
            python = f"{self.arguments.programs}/python"
            script = ("import sys, boto3, time\n"
                      "client = boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1',"
                      " aws_access_key_id=sys.argv[2], aws_secret_access_key=sys.argv[3])\n"
                      "for attempt in range(60):\n"
                      "    try:\n        client.create_bucket(Bucket='films'); break\n"
                      "    except Exception:\n        time.sleep(0.5)\n"
                      "client.upload_file(sys.argv[4], 'films', 'film')\n")
            subprocess.run([python, "-c", script, f"http://127.0.0.1:{ports[6]}", KEY, SECRET, str(self.film)], check=True)
            yield ports[6]

    @contextlib.contextmanager
    def link(self, target):
        port = free_port()
        with running([self.arguments.link, str(port), str(target), str(DELAY), str(self.arguments.rate)], port):
            yield port

    # --- Programs

    def rclone(self, port, source, target, *options):
        remote = f"s3,provider=Other,endpoint='http://127.0.0.1:{port}',access_key_id={KEY},secret_access_key={SECRET},force_path_style=true"
        names = [text.replace("S3:", f":{remote}:") for text in (source, target)]
        return ["rclone", "copyto", *names, "--config", "/dev/null", "--no-check-dest", "--retries", "1", *options]

    def downloads(self, port):
        url = f"http://127.0.0.1:{port}/film"
        ranges = [(self.size * n // CONNECTIONS, self.size * (n + 1) // CONNECTIONS - 1) for n in range(CONNECTIONS)]
        parts = " --next ".join(f"-s -r {first}-{last} -o part-{n:02} {url}" for n, (first, last) in enumerate(ranges))
        return {
            "ours": [self.probe, "download", url, "got", f"parts={CONNECTIONS}"],
            "aria2": ["aria2c", "-q", f"-x{CONNECTIONS}", f"-s{CONNECTIONS}", "-k1M", "--file-allocation=none", "-o", "got", url],
            "curl --parallel": ["sh", "-c", f"curl -Z --parallel-max {CONNECTIONS} --parallel-immediate {parts} && cat part-* >got && rm part-*"],
            "rclone": ["rclone", "copyto", ":http:film", "got", "--http-url", f"http://127.0.0.1:{port}", "--config", "/dev/null",
                       "--multi-thread-streams", str(CONNECTIONS), "--multi-thread-cutoff", "1M", "--retries", "1"],
        }

    def plain(self, port):
        url = f"http://127.0.0.1:{port}/film"
        return {
            "ours": [self.probe, "download", url, "got", "parts=1"],
            "ours in 16 parts": [self.probe, "download", url, "got", f"parts={CONNECTIONS}"],
            "curl": ["curl", "-s", "-o", "got", url],
        }

    def object_downloads(self, port):
        url = f"http://127.0.0.1:{port}"
        return {
            "ours": [self.probe, "download", url + "/films/film", "got", f"parts={CONNECTIONS}", f"key={KEY}:{SECRET}"],
            "rclone": self.rclone(port, "S3:films/film", "got", "--multi-thread-streams", str(CONNECTIONS), "--multi-thread-cutoff", "1M"),
            "s3transfer": [f"{self.arguments.programs}/python", "-c", S3TRANSFER, "download", url, "got", KEY, SECRET],
        }

    def object_uploads(self, port):
        url = f"http://127.0.0.1:{port}"
        film = str(self.film)
        return {
            "ours": [self.probe, "s3", url + "/films/ours", film, f"parts={CONNECTIONS}", f"partSize={PART}", "digest=none", f"key={KEY}:{SECRET}"],
            "rclone": self.rclone(port, film, "S3:films/rclone", "--s3-upload-concurrency", str(CONNECTIONS), "--s3-chunk-size", "8M",
                                  "--s3-upload-cutoff", "8M", "--s3-disable-checksum"),
            "s3transfer": [f"{self.arguments.programs}/python", "-c", S3TRANSFER, "upload", url, film, KEY, SECRET],
        }

    def run(self, case, programs, checks):
        results = {name: [] for name in programs}
        for turn in range(self.arguments.rounds):
            for name, command in programs.items():
                here = self.folder / "here"
                shutil.rmtree(here, ignore_errors=True)
                here.mkdir()
                result = measure(command, here)
                if checks and turn == 0 and digest(here / "got") != self.digest:
                    raise SystemExit(f"{case}: {name} has other content")
                results[name].append(result)
                print(json.dumps({"case": case, "program": name, **result}), flush=True)
        medians = {}
        for name, list_ in results.items():
            medians[name] = {key: statistics.median(result[key] for result in list_) for key in list_[0]}
            print(json.dumps({"case": case, "program": name, "median": medians[name]}), flush=True)
        best = min(median["seconds"] for name, median in medians.items() if not name.startswith("ours"))
        gib = self.size / (1 << 30)
        print(f"\n{case}\n{'':20}{'s':>8}{'of best':>9}{'CPU s/GiB':>11}{'MiB':>7}{'own':>7}", file=sys.stderr)
        for name, median in medians.items():
            print(f"{name:20}{median['seconds']:8.2f}{best / median['seconds']:9.2f}{median['cpu'] / gib:11.2f}{median['mib']:7.0f}{median['own']:7.0f}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("link")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rate", type=int, default=4_000_000)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--cases", nargs="*", default=[])
    arguments = parser.parse_args()
    wanted = lambda name: not arguments.cases or any(name.startswith(case) for case in arguments.cases)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        bench = Bench(arguments, pathlib.Path(path))
        with bench.nginx() as port:
            if wanted("plain"):
                bench.run("plain", bench.plain(port), True)
            if wanted("download"):
                with bench.link(port) as limited:
                    bench.run("download", bench.downloads(limited), True)
        if wanted("s3-download") or wanted("s3-upload"):
            with bench.seaweed() as port, bench.link(port) as limited:
                if wanted("s3-download"):
                    bench.run("s3-download", bench.object_downloads(limited), True)
                if wanted("s3-upload"):
                    bench.run("s3-upload", bench.object_uploads(limited), False)


if __name__ == "__main__":
    main()
