// SPDX-License-Identifier: Apache-2.0
// What a program does with Jedis's JedisCluster. Arguments: port, RESP version.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.ClusterPipeline;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

public class Cluster {
  private static final int KEYS = 100;
  private static HostAndPort address;
  private static RedisProtocol protocol;
  private static final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in));

  private interface Step {
    void run(JedisCluster r) throws Exception;
  }

  private static JedisCluster open() {
    return new JedisCluster(Set.of(address),
        DefaultJedisClientConfig.builder().protocol(protocol).password("secret")
            .socketTimeoutMillis(60000).build(), 5);
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

  private static void values(JedisCluster r) {
    for (int i = 0; i < KEYS; ++i) r.set("key:" + i, "" + i);
    for (int i = 0; i < KEYS; ++i) equal(r.get("key:" + i), "" + i);
  }

  private static void sameSlot(JedisCluster r) {
    r.mset("{tag}a", "1", "{tag}b", "2");
    equal(r.mget("{tag}a", "{tag}b", "{tag}c"), Arrays.asList("1", "2", null));
  }

  private static void pipeline(JedisCluster r) {
    List<Response<Long>> replies = new ArrayList<>();
    try (ClusterPipeline pipe = r.pipelined()) {
      for (int i = 0; i < KEYS; ++i) replies.add(pipe.incr("p:" + i));
      pipe.sync();
    }
    for (Response<Long> reply : replies) equal(reply.get(), 1L);
  }

  // JedisCluster has none of its own before Jedis 6: through the connection of the key's node.
  private static void transaction(JedisCluster r) {
    try (AbstractTransaction multi = new Transaction(r.getConnectionFromSlot(
        redis.clients.jedis.util.JedisClusterCRC16.getSlot("{t}n")), true, true)) {
      multi.set("{t}n", "1");
      multi.incr("{t}n");
      equal(multi.exec(), Arrays.asList("OK", 2L));
    }
  }

  private static void publishAndSubscribe(JedisCluster r) throws Exception {
    CountDownLatch subscribed = new CountDownLatch(1);
    CompletableFuture<String> heard = new CompletableFuture<>();
    JedisPubSub listener = new JedisPubSub() {
      @Override
      public void onSubscribe(String channel, int count) {
        subscribed.countDown();
      }

      @Override
      public void onMessage(String channel, String message) {
        heard.complete(message);
        unsubscribe();
      }
    };
    Thread reader = new Thread(() -> r.subscribe(listener, "news"));
    reader.start();
    subscribed.await();
    r.publish("news", "now");
    equal(heard.get(60, TimeUnit.SECONDS), "now");
    reader.join();
  }

  private static void script(JedisCluster r) {
    String add = "return redis.call('incrby', KEYS[1], ARGV[1])";
    equal(r.eval(add, List.of("scripted"), List.of("5")), 5L);
    String sha = r.scriptLoad(add, "scripted");
    equal(r.evalsha(sha, List.of("scripted"), List.of("5")), 10L);
  }

  private static void blocking(JedisCluster r) throws Exception {
    equal(r.blpop(0.1, "queue"), null);
    CompletableFuture<String> popped =
        CompletableFuture.supplyAsync(() -> r.blpop(30, "queue").get(1));
    r.rpush("queue", "job");
    equal(popped.get(60, TimeUnit.SECONDS), "job");
  }

  // Jedis scans a cluster only within one slot, by a hash tag in the pattern.
  private static void scan(JedisCluster r) {
    for (int i = 0; i < KEYS; ++i) r.set("{scanned}" + i, "");
    HashSet<String> seen = new HashSet<>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> some = r.scan(cursor, new ScanParams().match("{scanned}*").count(50));
      seen.addAll(some.getResult());
      cursor = some.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    equal(seen.size(), KEYS);
  }

  private static void hotReads(JedisCluster r) throws Exception {
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

  private static void restartProxy(JedisCluster r) throws Exception {
    ask("RESTART PROXY");
    until(() -> {
      try {
        for (int i = 0; i < KEYS; ++i) r.set("key:" + i, "restart");
        return true;
      } catch (JedisException stillDown) {
        return false;
      }
    }, "the proxy is back");
  }

  private static void run(String name, Step step, JedisCluster r) throws Exception {
    step.run(r);
    System.out.println("ok " + name);
  }

  public static void main(String[] arguments) throws Exception {
    address = new HostAndPort("127.0.0.1", Integer.parseInt(arguments[0]));
    protocol = arguments[1].equals("3") ? RedisProtocol.RESP3 : RedisProtocol.RESP2;
    try (JedisCluster r = open()) {
      run("values", Cluster::values, r);
      run("same_slot", Cluster::sameSlot, r);
      run("pipeline", Cluster::pipeline, r);
      run("transaction", Cluster::transaction, r);
      run("publish_and_subscribe", Cluster::publishAndSubscribe, r);
      run("script", Cluster::script, r);
      run("blocking", Cluster::blocking, r);
      run("scan", Cluster::scan, r);
      run("hot_reads", Cluster::hotReads, r);
      run("restart_proxy", Cluster::restartProxy, r);
    }
    System.exit(0);
  }
}
