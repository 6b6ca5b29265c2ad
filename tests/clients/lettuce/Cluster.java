// SPDX-License-Identifier: Apache-2.0
// What a program does with Lettuce's RedisClusterClient. Arguments: port, RESP version.

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.sync.RedisAdvancedClusterCommands;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public class Cluster {
  private static final int KEYS = 100;
  private static RedisClusterClient client;
  private static StatefulRedisClusterConnection<String, String> connection;
  private static final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in));

  private interface Step {
    void run(RedisAdvancedClusterCommands<String, String> r) throws Exception;
  }

  private static String ask(String runnerDoes) throws Exception {
    System.out.println(runnerDoes);
    return answers.readLine();
  }

  private static void until(Callable<Boolean> holds, String what) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!holds.call()) {
      if (System.nanoTime() > end) throw new AssertionError(what);
      Thread.sleep(20);
    }
  }

  private static void equal(Object got, Object wanted) {
    if (!Objects.deepEquals(got, wanted))
      throw new AssertionError("got " + got + ", wanted " + wanted);
  }

  private static void values(RedisAdvancedClusterCommands<String, String> r) {
    for (int i = 0; i < KEYS; ++i) r.set("key:" + i, "" + i);
    for (int i = 0; i < KEYS; ++i) equal(r.get("key:" + i), "" + i);
    connection.setReadFrom(ReadFrom.REPLICA_PREFERRED); // READONLY
    equal(r.get("key:0"), "0");
    connection.setReadFrom(ReadFrom.UPSTREAM);
  }

  // Lettuce splits commands with keys of several slots itself.
  private static void sameSlot(RedisAdvancedClusterCommands<String, String> r) {
    r.mset(Map.of("{tag}a", "1", "{tag}b", "2", "other", "3"));
    List<String> got = new ArrayList<>();
    for (KeyValue<String, String> each : r.mget("{tag}a", "{tag}b", "other"))
      got.add(each.getValue());
    equal(got, List.of("1", "2", "3"));
  }

  private static void pipeline(RedisAdvancedClusterCommands<String, String> r) throws Exception {
    List<RedisFuture<Long>> replies = new ArrayList<>();
    for (int i = 0; i < KEYS; ++i) replies.add(connection.async().incr("p:" + i));
    for (RedisFuture<Long> reply : replies) equal(reply.get(60, TimeUnit.SECONDS), 1L);
  }

  // On the connection to the key's node: a cluster connection has no MULTI.
  private static void transaction(RedisAdvancedClusterCommands<String, String> r) {
    String node = connection.getPartitions().getPartitionBySlot(SlotHash.getSlot("{t}n"))
        .getNodeId();
    var own = connection.getConnection(node).sync();
    own.multi();
    own.set("{t}n", "1");
    own.incr("{t}n");
    var done = own.exec();
    equal(List.of(done.get(0), done.get(1)), List.of("OK", 2L));
  }

  private static void publishAndSubscribe(RedisAdvancedClusterCommands<String, String> r)
      throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    try (var subscriber = client.connectPubSub()) {
      subscriber.addListener(new RedisPubSubAdapter<String, String>() {
        @Override
        public void message(String channel, String message) {
          heard.add(message);
        }
      });
      subscriber.sync().subscribe("news");
      r.publish("news", "now");
      equal(heard.poll(60, TimeUnit.SECONDS), "now");
    }
  }

  private static void script(RedisAdvancedClusterCommands<String, String> r) {
    String add = "return redis.call('incrby', KEYS[1], ARGV[1])";
    String[] keys = {"scripted"};
    equal(r.<Long>eval(add, ScriptOutputType.INTEGER, keys, "5"), 5L);
    String sha = r.scriptLoad(add);
    equal(r.<Long>evalsha(sha, ScriptOutputType.INTEGER, keys, "5"), 10L);
  }

  private static void blocking(RedisAdvancedClusterCommands<String, String> r) throws Exception {
    equal(r.blpop(0.1, "queue"), null);
    try (var waiting = client.connect()) {
      RedisFuture<KeyValue<String, String>> popped = waiting.async().blpop(30, "queue");
      r.rpush("queue", "job");
      equal(popped.get(60, TimeUnit.SECONDS).getValue(), "job");
    }
  }

  private static void scan(RedisAdvancedClusterCommands<String, String> r) {
    HashSet<String> seen = new HashSet<>();
    ScanArgs how = ScanArgs.Builder.matches("key:*").limit(50);
    KeyScanCursor<String> some = r.scan(how);
    seen.addAll(some.getKeys());
    while (!some.isFinished()) {
      some = r.scan(some, how);
      seen.addAll(some.getKeys());
    }
    equal(seen.size(), KEYS);
  }

  private static void hotReads(RedisAdvancedClusterCommands<String, String> r) throws Exception {
    r.set("hot", "shared");
    int before = Integer.parseInt(ask("HITS"));
    until(() -> {
      equal(r.get("hot"), "shared");
      return Integer.parseInt(ask("HITS")) > before;
    }, "served locally");
    for (int i = 0; i < 200; ++i) {
      r.set("hot", "" + i);
      equal(r.get("hot"), "" + i); // an own write
    }
  }

  private static void restartProxy(RedisAdvancedClusterCommands<String, String> r)
      throws Exception {
    ask("RESTART PROXY");
    until(() -> {
      try {
        for (int i = 0; i < KEYS; ++i) r.set("key:" + i, "restart");
        return true;
      } catch (RedisException stillDown) {
        return false;
      }
    }, "the proxy is back");
  }

  private static void run(String name, Step step) throws Exception {
    step.run(connection.sync());
    System.out.println("ok " + name);
  }

  public static void main(String[] arguments) throws Exception {
    RedisURI address = RedisURI.Builder.redis("127.0.0.1", Integer.parseInt(arguments[0]))
        .withTimeout(Duration.ofSeconds(60))
        .withPassword("secret".toCharArray())
        .build();
    client = RedisClusterClient.create(address);
    client.setOptions(ClusterClientOptions.builder()
        .protocolVersion(arguments[1].equals("3") ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2)
        .build());
    connection = client.connect();
    run("values", Cluster::values);
    run("same_slot", Cluster::sameSlot);
    run("pipeline", Cluster::pipeline);
    run("transaction", Cluster::transaction);
    run("publish_and_subscribe", Cluster::publishAndSubscribe);
    run("script", Cluster::script);
    run("blocking", Cluster::blocking);
    run("scan", Cluster::scan);
    run("hot_reads", Cluster::hotReads);
    run("restart_proxy", Cluster::restartProxy);
    System.exit(0);
  }
}
