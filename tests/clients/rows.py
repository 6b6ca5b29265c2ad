# SPDX-License-Identifier: Apache-2.0
"""The clients, one row each: what they need, how they are installed and run."""

import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Client:
    folder: str  # beside this file, with the program and its manifest
    tools: tuple  # programs that must be there
    install: tuple  # commands, run in the build folder
    run: tuple  # given the port and the RESP version
    resp: tuple
    reads_hot_key: bool = True
    variables: tuple = ()  # environment, relative to the build folder

    def environment(self, folder):
        return os.environ | {name: str(folder / path) for name, path in self.variables}


# By default npm asks a registry that it cannot reach for more than five minutes.
NPM = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1",
       "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000", "--fetch-timeout=60000")
CLIENTS = {
    "wire": Client("wire", ("python3",), (), ("python3", "client.py"), (2,), reads_hot_key=False),
    "redis_py": Client(
        "redis_py", ("python3",),
        (("python3", "-m", "pip", "install", "--quiet", "--upgrade", "--target", "packages",
          "--requirement", "requirements.txt"),),
        ("python3", "client.py"), (2, 3), variables=(("PYTHONPATH", "packages"),)),
    "node_redis": Client("node_redis", ("node", "npm"), (NPM,), ("node", "client.js"), (2, 3)),
    "ioredis": Client("ioredis", ("node", "npm"), (NPM,), ("node", "client.js"), (2,)),
    "jedis": Client(
        "jedis", ("java", "mvn"),
        (("mvn", "-q", "-B", "compile", "dependency:copy-dependencies"),),
        ("java", "-cp", "target/classes:target/dependency/*", "Client"), (2, 3)),
    "go_redis": Client("go_redis", ("go",), (("go", "build", "-o", "client", "."),),
                       ("./client",), (2, 3)),
    "redis_cli": Client("redis_cli", ("redis-cli",), (), ("bash", "client.sh"), (2, 3),
                        reads_hot_key=False),
    "redis_benchmark": Client("redis_benchmark", ("redis-benchmark",), (), ("bash", "client.sh"),
                              (2, 3)),
}
