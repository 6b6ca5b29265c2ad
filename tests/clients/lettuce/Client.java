// SPDX-License-Identifier: Apache-2.0
// What a program does with Lettuce. Arguments: port, RESP version, and with TLS the authority.

import io.lettuce.core.ClientOptions;
import io.lettuce.core.Consumer;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

public class Client {
  private static int port;
  private static boolean tls;
  private static RedisClient client; // one for all connections, as its manual has it
  private static final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in));

  private interface Step {
    void run(RedisCommands<String, String> r) throws Exception;
  }

  private static RedisURI.Builder address() {
    return RedisURI.Builder.redis("127.0.0.1", port)
        .withSsl(tls)
        .withTimeout(Duration.ofSeconds(60))
        .withPassword("secret".toCharArray());
  }

  private static StatefulRedisConnection<String, String> open() {
    return client.connect(address().build());
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

  private static void startup(RedisCommands<String, String> r) {
    try (var named = client.connect(address().withClientName("lettuce").build())) {
      var own = named.sync();
      equal(own.clientGetname(), "lettuce");
      equal(own.info("server").contains("redis_version:"), true);
      equal(own.commandCount() > 200, true);
      equal(own.echo("hello"), "hello");
    }
  }

  private static void password(RedisCommands<String, String> r) {
    RedisURI wrong = address().withPassword("wrong".toCharArray()).build();
    try (var refused = client.connect(wrong)) {
      throw new AssertionError("a wrong password was taken");
    } catch (RedisConnectionException expected) {
      equal(expected.getCause().getMessage().startsWith("WRONGPASS"), true);
    }
  }

  private static void aclUser(RedisCommands<String, String> r) {
    try (var other = client.connect(address().withAuthentication("app", "app-secret").build())) {
      RedisCommands<String, String> app = other.sync();
      equal(app.aclWhoami(), "app");
      app.set("app's", "1");
      equal(app.get("app's"), "1");
      equal(r.get("app's"), "1");
    }
  }

  private static void values(RedisCommands<String, String> r) {
    byte[] key = "value".getBytes();
    byte[] binary = new byte[1024];
    for (int i = 0; i < binary.length; ++i) binary[i] = (byte) i;
    try (var bytes = client.connect(ByteArrayCodec.INSTANCE, address().build())) {
      bytes.sync().set(key, binary);
      equal(bytes.sync().get(key), binary);
    }
    equal(r.get("nothing"), null);
    equal(r.set("value", "other", SetArgs.Builder.nx()), null);
    equal(r.del("value"), 1L);
  }

  private static void pipeline(RedisCommands<String, String> r) throws Exception {
    try (var connection = open()) {
      connection.setAutoFlushCommands(false);
      List<RedisFuture<Long>> replies = new ArrayList<>();
      for (int i = 0; i < 1000; ++i) replies.add(connection.async().incr("pipelined"));
      connection.flushCommands();
      for (int i = 0; i < 1000; ++i) equal(replies.get(i).get(), i + 1L);
    }
  }

  private static void transaction(RedisCommands<String, String> r) {
    r.watch("watched");
    r.multi();
    r.set("watched", "mine");
    r.get("watched");
    TransactionResult done = r.exec();
    equal(List.of(done.get(0), done.get(1)), List.of("OK", "mine"));
    r.watch("watched");
    try (var other = open()) {
      other.sync().set("watched", "theirs");
    }
    r.multi();
    r.set("watched", "mine");
    equal(r.exec().wasDiscarded(), true);
    equal(r.get("watched"), "theirs");
  }

  private static void publishAndSubscribe(RedisCommands<String, String> r) throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    try (StatefulRedisPubSubConnection<String, String> own =
             client.connectPubSub(address().build())) {
      own.addListener(new RedisPubSubAdapter<>() {
        @Override
        public void message(String channel, String message) {
          heard.add(message);
        }

        @Override
        public void message(String pattern, String channel, String message) {
          heard.add(pattern + message);
        }
      });
      own.sync().subscribe("news");
      own.sync().psubscribe("ne*");
      equal(r.publish("news", "now"), 2L);
      equal(heard.poll(60, TimeUnit.SECONDS), "now");
      equal(heard.poll(60, TimeUnit.SECONDS), "ne*now");
      own.sync().unsubscribe("news");
      equal(r.publish("news", "again"), 1L);
      equal(heard.poll(60, TimeUnit.SECONDS), "ne*again");
      own.sync().punsubscribe("ne*");
      equal(r.publish("news", "to nobody"), 0L);
    }
  }

  private static void script(RedisCommands<String, String> r) {
    String text = "return redis.call('incrby', KEYS[1], ARGV[1])";
    String[] keys = {"scripted"};
    r.scriptFlush();
    try {
      r.evalsha(r.digest(text), ScriptOutputType.INTEGER, keys, "5");
      throw new AssertionError("NOSCRIPT was not seen");
    } catch (RedisNoScriptException expected) {
      equal(r.eval(text, ScriptOutputType.INTEGER, keys, "5"), 5L);
    }
    equal(r.evalsha(r.digest(text), ScriptOutputType.INTEGER, keys, "5"), 10L);
    equal(r.get("scripted"), "10");
  }

  private static void function(RedisCommands<String, String> r) {
    r.functionLoad(
        "#!lua name=numbers\nredis.register_function('add', function(keys, arguments) "
            + "return redis.call('incrby', keys[1], arguments[1]) end)",
        true);
    String[] keys = {"function's"};
    equal(r.fcall("add", ScriptOutputType.INTEGER, keys, "5"), 5L);
    equal(r.get("function's"), "5");
  }

  private static void blocking(RedisCommands<String, String> r) throws Exception {
    try (var waiter = open()) {
      equal(waiter.sync().blpop(0.1, "queue"), null);
      RedisFuture<KeyValue<String, String>> popped = waiter.async().blpop(30, "queue");
      until(() -> r.info("clients").contains("blocked_clients:1\r"), "BLPOP waits");
      r.rpush("queue", "job");
      equal(popped.get(), KeyValue.just("queue", "job"));
    }
  }

  private static void scan(RedisCommands<String, String> r) {
    Map<String, String> all = new HashMap<>();
    for (int i = 0; i < 500; ++i) all.put("scan:" + i, "");
    r.mset(all);
    var seen = new HashSet<String>();
    ScanArgs some = ScanArgs.Builder.matches("scan:*").limit(50);
    KeyScanCursor<String> cursor = r.scan(some);
    seen.addAll(cursor.getKeys());
    while (!cursor.isFinished()) {
      cursor = r.scan(ScanCursor.of(cursor.getCursor()), some);
      seen.addAll(cursor.getKeys());
    }
    equal(seen.size(), 500);
  }

  private static void streams(RedisCommands<String, String> r) {
    String id = r.xadd("stream", Map.of("n", "1"));
    r.xgroupCreate(StreamOffset.from("stream", "0"), "group");
    var read = r.xreadgroup(Consumer.from("group", "one"), XReadArgs.Builder.block(1000),
        StreamOffset.lastConsumed("stream"));
    equal(read.get(0).getId(), id);
    equal(r.xack("stream", "group", id), 1L);
  }

  private static void databases(RedisCommands<String, String> r) {
    r.set("here", "zero");
    try (var connection = client.connect(address().withDatabase(3).build())) {
      RedisCommands<String, String> other = connection.sync();
      equal(other.get("here"), null);
      other.set("here", "three");
      equal(r.get("here"), "zero");
      other.select(0);
      equal(other.get("here"), "zero");
    }
  }

  // Lettuce's manner is not a pool but one connection for all threads; here with eight of them.
  private static void pool(RedisCommands<String, String> r) {
    r.set("hot", "shared");
    CompletableFuture<?>[] users = new CompletableFuture<?>[8];
    for (int i = 0; i < users.length; ++i) {
      String key = "hot:" + i;
      users[i] = CompletableFuture.runAsync(() -> use(r, key));
    }
    CompletableFuture.allOf(users).join();
  }

  private static void use(RedisCommands<String, String> r, String key) {
    for (int i = 0; i < 300; ++i) {
      r.set(key, String.valueOf(i));
      r.get("hot");
      equal(r.get(key), String.valueOf(i)); // an own write
    }
  }

  private static void hotReads(RedisCommands<String, String> r) throws Exception {
    r.set("hot", "shared");
    long before = Long.parseLong(ask("HITS"));
    until(() -> {
      equal(r.get("hot"), "shared");
      return Long.parseLong(ask("HITS")) > before;
    }, "served locally");
    for (int i = 0; i < 200; ++i) {
      r.set("hot", String.valueOf(i));
      equal(r.get("hot"), String.valueOf(i)); // an own write
    }
  }

  private static void bigValue(RedisCommands<String, String> r) {
    for (int bytes : new int[] {1_000_000, 5_000_000}) {
      String big = "x".repeat(bytes);
      r.set("big", big);
      equal(r.get("big"), big);
    }
  }

  private static void restart(RedisCommands<String, String> r, String what) throws Exception {
    ask("RESTART " + what);
    until(() -> isBack(r), what + " is back");
    equal(r.get("after"), "restart");
  }

  /** Neither an idle client nor one that connects sees it. */
  private static void outage(RedisCommands<String, String> r) throws Exception {
    try (var idle = open()) {
      idle.sync().ping();
      ask("LOSE SERVER");
      equal(idle.sync().set("outage", "idle"), "OK");
      ask("LOSE SERVER");
      try (var fresh = open()) {
        equal(fresh.sync().set("outage", "fresh"), "OK");
      }
    }
  }

  private static boolean isBack(RedisCommands<String, String> r) {
    try {
      return r.set("after", "restart").equals("OK");
    } catch (RedisException down) {
      return false;
    }
  }

  /** Keeps the value of a hot key in this process. */
  private static void verdicts(RedisCommands<String, String> r) throws Exception {
    Map<String, String> near = new ConcurrentHashMap<>();
    Pattern hot = Pattern.compile("\"key\":\"(\\w+)\",\"db\":0,\"state\":\"(hot|write-hot)\"");
    r.set("verdict", "kept");
    try (StatefulRedisPubSubConnection<String, String> own =
             client.connectPubSub(address().build())) {
      Set<String> names = ConcurrentHashMap.newKeySet();
      own.addListener(new RedisPubSubAdapter<>() {
        @Override
        public void message(String channel, String json) {
          if (json.contains("\"type\":\"list\"")) names.clear();
          hot.matcher(json).results().forEach(key -> names.add(key.group(1)));
        }
      });
      own.sync().subscribe("__heatsink__:hot");
      until(() -> {
        for (int i = 0; i < 20; ++i) {
          String value = near.containsKey("verdict") ? near.get("verdict") : r.get("verdict");
          equal(value, "kept");
          if (names.contains("verdict")) near.put("verdict", value);
        }
        return near.containsKey("verdict");
      }, "it is kept here");
      own.sync().unsubscribe("__heatsink__:hot");
    }
  }

  private static void play(String name, RedisCommands<String, String> r, Step step)
      throws Exception {
    step.run(r);
    System.out.println("ok " + name);
  }

  private static void play(RedisCommands<String, String> r) throws Exception {
    play("startup", r, Client::startup);
    play("password", r, Client::password);
    play("acl_user", r, Client::aclUser);
    play("values", r, Client::values);
    play("pipeline", r, Client::pipeline);
    play("transaction", r, Client::transaction);
    play("publish_and_subscribe", r, Client::publishAndSubscribe);
    play("script", r, Client::script);
    play("function", r, Client::function);
    play("blocking", r, Client::blocking);
    play("scan", r, Client::scan);
    play("streams", r, Client::streams);
    play("databases", r, Client::databases);
    play("pool", r, Client::pool);
    play("hot_reads", r, Client::hotReads);
    play("big_value", r, Client::bigValue);
    play("restart_server", r, own -> restart(own, "SERVER"));
    play("outage", r, Client::outage);
    play("restart_proxy", r, own -> restart(own, "PROXY"));
    play("verdicts", r, Client::verdicts);
  }

  public static void main(String[] args) throws Exception {
    port = Integer.parseInt(args[0]);
    tls = args.length > 2;
    ClientOptions.Builder options = ClientOptions.builder().protocolVersion(
        args[1].equals("3") ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2);
    if (tls) options.sslOptions(SslOptions.builder().trustManager(new File(args[2])).build());
    client = RedisClient.create();
    client.setOptions(options.build());
    try (var connection = open()) {
      play(connection.sync());
    }
    client.shutdown(0, 0, TimeUnit.SECONDS);
  }
}
