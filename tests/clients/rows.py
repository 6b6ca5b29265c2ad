# SPDX-License-Identifier: Apache-2.0
"""The clients, one row each: what they need, how they are installed and run."""

import dataclasses
import os

# What every library's program does, each step in its language's own manner. It says "ok STEP".
STEPS = (
    "startup", "password", "acl_user", "values", "pipeline", "transaction",
    "publish_and_subscribe", "script", "function", "blocking", "scan", "streams", "databases",
    "pool", "hot_reads", "big_value", "restart_server", "restart_proxy",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program connects; each is one run."""

    resp: int
    tls: bool = False

    def __str__(self):
        return f"RESP{self.resp}{' and TLS' if self.tls else ''}"


BOTH = (Way(2), Way(3), Way(3, tls=True))


@dataclasses.dataclass(frozen=True)
class Client:
    folder: str  # beside this file, with the program and its manifest
    tools: tuple  # programs that must be there
    install: tuple  # commands, run in the build folder
    run: tuple  # given the port, the RESP version and, with TLS, the authority's certificate
    ways: tuple = BOTH
    steps: tuple = STEPS
    password: bool = True  # the server wants one: "secret", and has a user "app", "app-secret"
    variables: tuple = ()  # environment, relative to the build folder

    def environment(self, folder):
        return os.environ | {name: str(folder / path) for name, path in self.variables}


# By default npm asks a registry that it cannot reach for more than five minutes. The lock files
# hold checksums and no addresses (npm's omit-lockfile-registry-resolved wrote them).
NPM = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1",
       "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000",
       "--fetch-timeout=60000")  # fmt: skip
# Maven has no lock file: the versions are in pom.xml, and what came is compared.
MAVEN = (("mvn", "-q", "-B", "compile", "dependency:copy-dependencies"),
         ("sha256sum", "--check", "--quiet", "jars.sha256"))  # fmt: skip
JAVA = ("java", "-cp", "target/classes:target/dependency/*", "Client")
# Commands whose failure is no reason to skip: something else came than what is pinned.
COMPARING = ("sha256sum", "./same_crates.py")
CLIENTS = {
    "wire": Client("wire", ("python3",), (), ("python3", "client.py"), (Way(2),), steps=(
        "password_set_while_running", "little_before_auth", "auth_in_another_database",
        "replication", "deep_reply", "busy_script", "restart"), password=False),
    "redis_py": Client(
        "redis_py", ("python3",),
        (("python3", "-m", "pip", "install", "--quiet", "--upgrade", "--target", "packages",
          "--require-hashes", "--requirement", "requirements.txt"),),
        ("python3", "client.py"), variables=(("PYTHONPATH", "packages"),)),
    "node_redis": Client("node_redis", ("node", "npm"), (NPM,), ("node", "client.js")),
    "ioredis": Client("ioredis", ("node", "npm"), (NPM,), ("node", "client.js"),
                      (Way(2), Way(2, tls=True))),
    "jedis": Client("jedis", ("java", "javac", "mvn"), MAVEN, JAVA),
    "lettuce": Client("lettuce", ("java", "javac", "mvn"), MAVEN, JAVA),
    "go_redis": Client("go_redis", ("go",), (("go", "build", "-o", "client", "."),),
                       ("./client",)),
    # Cargo's lock file names its registry, so it is made here, and compared.
    "redis_rs": Client(
        "redis_rs", ("cargo", "python3"),
        (("cargo", "generate-lockfile"), ("./same_crates.py",),
         ("cargo", "build", "--locked", "--target-dir", "target")),
        ("target/debug/client",), (Way(2), Way(3))),
    "redis_cli": Client("redis_cli", ("redis-cli",), (), ("bash", "client.sh"), steps=(
        "password", "acl_user", "values", "big_value", "databases", "transaction", "script",
        "pipe", "scan", "subscribe_and_monitor", "hot_reads", "restart_server", "restart_proxy")),
    "redis_benchmark": Client("redis_benchmark", ("redis-benchmark",), (), ("bash", "client.sh"),
                              steps=("alone", "pipelined", "hot_reads")),
}  # fmt: skip
