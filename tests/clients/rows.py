# SPDX-License-Identifier: Apache-2.0
"""The clients, one row each: what they need, how they are installed and run."""

import dataclasses
import os

# What every library's program does, each step in its language's own manner. It says "ok STEP".
STEPS = (
    "startup", "password", "acl_user", "values", "pipeline", "transaction",
    "publish_and_subscribe", "script", "function", "blocking", "scan", "streams", "databases",
    "pool", "hot_reads", "big_value", "restart_server", "outage",
    "restart_proxy",
)  # fmt: skip

# Of two of them: acts on the channel __heatsink__:hot.
WITH_VERDICTS = (*STEPS, "verdicts")

# What a program does in cluster mode: proxy.present-as: cluster.
CLUSTER_STEPS = (
    "values", "same_slot", "pipeline", "transaction", "publish_and_subscribe", "script",
    "blocking", "scan", "hot_reads", "restart_proxy",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program connects; each is one run."""

    resp: int
    tls: bool = False
    nodes: int = 0  # so many proxies look like a cluster; 0: one looks like a server

    def __str__(self):
        cluster = f", a cluster of {self.nodes}" if self.nodes else ""
        return f"RESP{self.resp}{' and TLS' if self.tls else ''}{cluster}"


AS_CLUSTER = (Way(2, nodes=1), Way(3, nodes=2))
BOTH = (Way(2), Way(3), Way(3, tls=True))

# What a program does whose library keeps what it reads (proxy.client-tracking): direct, and then
# through the proxy.
NEAR_STEPS = ("at_server", "hits", "changes", "pool", "lost_server", "restart_proxy")
NEAR = {"ways": (Way(3), Way(3, tls=True)), "steps": NEAR_STEPS,
        "options": (("proxy.client-tracking", "pays"), ("cache.admission", "hot"))}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Client:
    folder: str  # beside this file, with the program and its manifest
    tools: tuple  # programs that must be there
    install: tuple  # commands, run in the build folder
    run: tuple  # given the port, the RESP version and, with TLS, the authority's certificate
    ways: tuple = BOTH
    steps: tuple = STEPS
    is_durable: bool = False  # a server that is killed comes back with all its data
    password: bool = True  # the server wants one: "secret", and has a user "app", "app-secret"
    variables: tuple = ()  # environment, relative to the build folder
    options: tuple = ()  # of the proxies: (name, value) each
    run_cluster: tuple = ()  # as `run`, in cluster mode; (): the library has none
    cluster_ways: tuple = AS_CLUSTER

    def runs(self):
        """Each way, with its command and its steps."""
        for way in self.ways:
            yield way, self.run, self.steps
        for way in self.cluster_ways if self.run_cluster else ():
            yield way, self.run_cluster, CLUSTER_STEPS

    def environment(self, folder):
        return os.environ | {name: str(folder / path) for name, path in self.variables}


# By default npm asks a registry that it cannot reach for more than five minutes. The lock files
# hold checksums and no addresses (npm's omit-lockfile-registry-resolved wrote them).
NPM = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1",
       "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=1000",
       "--fetch-timeout=60000")  # fmt: skip
PIP = (("python3", "-m", "pip", "install", "--quiet", "--upgrade", "--target", "packages",
        "--require-hashes", "--requirement", "requirements.txt"),)  # fmt: skip
# Maven has no lock file: the versions are in pom.xml, and what came is compared.
MAVEN = (("mvn", "-q", "-B", "compile", "dependency:copy-dependencies"),
         ("sha256sum", "--check", "--quiet", "jars.sha256"))  # fmt: skip
JAVA = ("java", "-cp", "target/classes:target/dependency/*", "Client")
JAVA_CLUSTER = (*JAVA[:-1], "Cluster")
NODE_CLUSTER = ("node", "cluster.js")
# Commands whose failure is no reason to skip: something else came than what is pinned.
COMPARING = ("sha256sum", "./same_crates.py")
CLIENTS = {
    "wire": Client("wire", ("python3",), (), ("python3", "client.py"), (Way(2),), steps=(
        "password_set_while_running", "little_before_auth", "auth_in_another_database",
        "replication", "deep_reply", "busy_script", "restart"), password=False),
    "redis_py": Client(
        "redis_py", ("python3",), PIP, ("python3", "client.py"),
        variables=(("PYTHONPATH", "packages"),), run_cluster=("python3", "cluster.py"),
        steps=WITH_VERDICTS),
    "node_redis": Client("node_redis", ("node", "npm"), (NPM,), ("node", "client.js"),
                         run_cluster=NODE_CLUSTER),
    "ioredis": Client("ioredis", ("node", "npm"), (NPM,), ("node", "client.js"),
                      (Way(2), Way(2, tls=True)), run_cluster=NODE_CLUSTER,
                      cluster_ways=(Way(2, nodes=1), Way(2, nodes=2))),
    "jedis": Client("jedis", ("java", "javac", "mvn"), MAVEN, JAVA, run_cluster=JAVA_CLUSTER),
    "lettuce": Client("lettuce", ("java", "javac", "mvn"), MAVEN, JAVA, run_cluster=JAVA_CLUSTER,
                      steps=WITH_VERDICTS),
    "go_redis": Client("go_redis", ("go",),
                       (("go", "build", "-o", "client", "."),
                        ("go", "build", "-o", "cluster-client", "./cluster")),
                       ("./client",), run_cluster=("./cluster-client",)),
    # Cargo's lock file names its registry, so it is made here, and compared.
    "redis_rs": Client(
        "redis_rs", ("cargo", "python3"),
        (("cargo", "generate-lockfile"), ("./same_crates.py",),
         ("cargo", "build", "--locked", "--target-dir", "target")),
        ("target/debug/client",), (Way(2), Way(3))),
    # The extension comes with the system's PHP.
    "phpredis": Client(
        "phpredis", ("php",), (("php", "-r", "exit(extension_loaded('redis') ? 0 : 1);"),),
        ("php", "client.php"), (Way(2),),
        steps=("values", "pipeline", "transaction", "outage", "without_server")),
    # Libraries with a cache of their own.
    "redis_py_near": Client("redis_py", ("python3",), PIP, ("python3", "near.py"),
                            variables=(("PYTHONPATH", "packages"),), **NEAR),
    "node_redis_near": Client("node_redis", ("node", "npm"), (NPM,), ("node", "near.js"), **NEAR),
    "rueidis_near": Client("rueidis", ("go",), (("go", "build", "-o", "near", "."),), ("./near",),
                           **NEAR),
    "jedis_near": Client("jedis", ("java", "javac", "mvn"), MAVEN, (*JAVA[:-1], "Near"), **NEAR),
    # What fails through the proxy while the server restarts fails without it, too.
    "redis_py_outage": Client(
        "redis_py", ("python3",), PIP, ("python3", "outage.py"), (Way(2), Way(3)),
        steps=("without_errors", "as_direct"), variables=(("PYTHONPATH", "packages"),)),
    # Frameworks: what they see of it, direct and through the proxy.
    "celery": Client("celery", ("python3",), PIP, ("python3", "outage.py"), (Way(2),),
                     steps=("as_direct",), variables=(("PYTHONPATH", "packages"),),
                     is_durable=True),
    "bullmq": Client("bullmq", ("node", "npm"), (NPM,), ("node", "outage.js"), (Way(2),),
                     steps=("as_direct",), is_durable=True),
    "spring_data": Client("spring_data", ("java", "javac", "mvn"), MAVEN, JAVA, (Way(2),),
                          steps=("jedis_as_direct", "lettuce_as_direct"), is_durable=True),
    "spring_boot": Client("spring_boot", ("java", "javac", "mvn"), MAVEN,
                          ("java", "-XX:TieredStopAtLevel=1", *JAVA[1:]), (Way(2),),
                          steps=("cacheable", "health", "as_direct"), is_durable=True),
    "php_queue": Client("phpredis", ("php",),
                        (("php", "-r", "exit(extension_loaded('redis') && "
                          "extension_loaded('pcntl') && extension_loaded('session') ? 0 : 1);"),),
                        ("php", "outage.php"), (Way(2),), steps=("as_direct",), is_durable=True),
    # Its packages come with the system, too.
    "laravel": Client("phpredis", ("php",),
                      (("php", "-r", "exit(extension_loaded('redis') && extension_loaded('pcntl') "
                        "&& stream_resolve_include_path('Illuminate/Queue/autoload.php') "
                        "&& stream_resolve_include_path('Illuminate/Redis/autoload.php') "
                        "&& stream_resolve_include_path('Illuminate/Cache/autoload.php') "
                        "&& stream_resolve_include_path('Illuminate/Events/autoload.php') "
                        "? 0 : 1);"),),
                      ("php", "laravel.php"), (Way(2),), steps=("as_direct",), is_durable=True),
    "redis_cli": Client("redis_cli", ("redis-cli",), (), ("bash", "client.sh"), steps=(
        "password", "acl_user", "values", "big_value", "databases", "transaction", "script",
        "pipe", "scan", "subscribe_and_monitor", "hot_reads", "restart_server", "restart_proxy")),
    "redis_benchmark": Client("redis_benchmark", ("redis-benchmark",), (), ("bash", "client.sh"),
                              steps=("alone", "pipelined", "hot_reads")),
}  # fmt: skip
