// SPDX-License-Identifier: Apache-2.0
// What a program does with Jedis. Arguments: port, RESP version, and with TLS the authority.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.resps.ScanResult;

public class Client {
  private static HostAndPort address;
  private static RedisProtocol protocol;
  private static SSLSocketFactory sockets; // null: without TLS
  private static final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in));

  private interface Step {
    void run(Jedis r) throws Exception;
  }

  private static DefaultJedisClientConfig.Builder config() {
    return DefaultJedisClientConfig.builder()
        .protocol(protocol)
        .password("secret")
        .ssl(sockets != null)
        .sslSocketFactory(sockets)
        .socketTimeoutMillis(60000);
  }

  private static Jedis open() {
    return new Jedis(address, config().build());
  }

  private static SSLSocketFactory trusting(String authority) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream file = new FileInputStream(authority)) {
      store.setCertificateEntry("ca",
          CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context.getSocketFactory();
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

  private static void startup(Jedis r) {
    try (Jedis named = new Jedis(address, config().clientName("jedis").build())) {
      equal(named.clientGetname(), "jedis");
      equal(named.info("server").contains("redis_version:"), true);
      equal(named.commandCount() > 200, true);
      equal(named.echo("hello"), "hello");
    }
  }

  private static void password(Jedis r) {
    try (Jedis wrong = new Jedis(address, config().password("wrong").build())) {
      throw new AssertionError("a wrong password was taken");
    } catch (JedisAccessControlException expected) {
      equal(expected.getMessage().startsWith("WRONGPASS"), true);
    }
  }

  private static void aclUser(Jedis r) {
    try (Jedis app = new Jedis(address, config().user("app").password("app-secret").build())) {
      equal(app.aclWhoAmI(), "app");
      app.set("app's", "1");
      equal(app.get("app's"), "1");
      equal(r.get("app's"), "1");
    }
  }

  private static void values(Jedis r) {
    byte[] key = "value".getBytes();
    byte[] binary = new byte[1024];
    for (int i = 0; i < binary.length; ++i) binary[i] = (byte) i;
    r.set(key, binary);
    equal(r.get(key), binary);
    equal(r.get("nothing"), null);
    equal(r.set("value", "other", SetParams.setParams().nx()), null);
    equal(r.del("value"), 1L);
  }

  private static void pipeline(Jedis r) {
    var pipe = r.pipelined();
    List<Response<Long>> replies = new ArrayList<>();
    for (int i = 0; i < 1000; ++i) replies.add(pipe.incr("pipelined"));
    pipe.sync();
    for (int i = 0; i < 1000; ++i) equal(replies.get(i).get(), i + 1L);
  }

  private static void transaction(Jedis r) {
    r.watch("watched");
    var done = r.multi();
    done.set("watched", "mine");
    done.get("watched");
    equal(done.exec(), Arrays.asList("OK", "mine"));
    r.watch("watched");
    try (Jedis other = open()) {
      other.set("watched", "theirs");
    }
    var refused = r.multi();
    refused.set("watched", "mine");
    equal(refused.exec(), null);
    equal(r.get("watched"), "theirs");
  }

  private static class Listener extends JedisPubSub {
    final CountDownLatch subscribed = new CountDownLatch(2);
    final List<String> heard = new ArrayList<>();

    @Override
    public void onSubscribe(String channel, int count) {
      if (count == 1) psubscribe("ne*");
      subscribed.countDown();
    }

    @Override
    public void onPSubscribe(String pattern, int count) {
      subscribed.countDown();
    }

    @Override
    public void onMessage(String channel, String message) {
      heard.add(message);
      unsubscribe("news");
    }

    @Override
    public void onPMessage(String pattern, String channel, String message) {
      heard.add(message);
      punsubscribe("ne*");
    }
  }

  private static void publishAndSubscribe(Jedis r) throws Exception {
    Listener listener = new Listener();
    var subscriber = CompletableFuture.runAsync(() -> {
      try (Jedis own = open()) {
        own.subscribe(listener, "news");
        own.set("no longer", "subscribed");
      }
    });
    listener.subscribed.await();
    equal(r.publish("news", "now"), 2L);
    subscriber.get();
    equal(listener.heard, Arrays.asList("now", "now"));
    equal(r.publish("news", "to nobody"), 0L);
  }

  private static void script(Jedis r) {
    String text = "return redis.call('incrby', KEYS[1], ARGV[1])";
    r.scriptFlush();
    try {
      r.evalsha("0".repeat(40), 1, "scripted", "5");
      throw new AssertionError("NOSCRIPT was not seen");
    } catch (JedisNoScriptException expected) {
      equal(r.eval(text, 1, "scripted", "5"), 5L);
    }
    equal(r.evalsha(r.scriptLoad(text), 1, "scripted", "5"), 10L);
    equal(r.get("scripted"), "10");
  }

  private static void function(Jedis r) {
    r.functionLoadReplace(
        "#!lua name=numbers\nredis.register_function('add', function(keys, arguments) "
        + "return redis.call('incrby', keys[1], arguments[1]) end)");
    equal(r.fcall("add", List.of("function's"), List.of("5")), 5L);
    equal(r.get("function's"), "5");
  }

  private static void blocking(Jedis r) throws Exception {
    equal(r.blpop(0.1, "queue"), null);
    var popped = CompletableFuture.supplyAsync(() -> {
      try (Jedis own = open()) {
        return own.blpop(30, "queue");
      }
    });
    until(() -> r.info("clients").contains("blocked_clients:1\r"), "BLPOP waits");
    r.rpush("queue", "job");
    equal(popped.get(), Arrays.asList("queue", "job"));
  }

  private static void scan(Jedis r) {
    for (int i = 0; i < 500; ++i) r.set("scan:" + i, "");
    var seen = new HashSet<String>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> some = r.scan(cursor, new ScanParams().match("scan:*").count(50));
      seen.addAll(some.getResult());
      cursor = some.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    equal(seen.size(), 500);
  }

  private static void streams(Jedis r) {
    StreamEntryID id = r.xadd("stream", StreamEntryID.NEW_ENTRY, new HashMap<>(Map.of("n", "1")));
    r.xgroupCreate("stream", "group", new StreamEntryID(), false);
    var read = r.xreadGroup("group", "one", XReadGroupParams.xReadGroupParams().block(1000),
        Map.of("stream", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
    equal(read.get(0).getValue().get(0).getID(), id);
    equal(r.xack("stream", "group", id), 1L);
  }

  private static void databases(Jedis r) {
    r.set("here", "zero");
    try (Jedis other = new Jedis(address, config().database(3).build())) {
      equal(other.get("here"), null);
      other.set("here", "three");
      equal(r.get("here"), "zero");
      other.select(0);
      equal(other.get("here"), "zero");
    }
  }

  private static void pool(Jedis r) {
    r.set("hot", "shared");
    try (JedisPooled pool = new JedisPooled(address, config().build())) {
      CompletableFuture<?>[] users = new CompletableFuture<?>[8];
      for (int i = 0; i < users.length; ++i) {
        String key = "hot:" + i;
        users[i] = CompletableFuture.runAsync(() -> use(pool, key));
      }
      CompletableFuture.allOf(users).join();
    }
  }

  private static void use(JedisPooled pool, String key) {
    for (int i = 0; i < 300; ++i) {
      pool.set(key, String.valueOf(i));
      pool.get("hot");
      equal(pool.get(key), String.valueOf(i)); // an own write
    }
  }

  private static void hotReads(Jedis r) throws Exception {
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

  private static void bigValue(Jedis r) {
    for (int bytes : new int[] {1_000_000, 5_000_000}) {
      String big = "x".repeat(bytes);
      r.set("big", big);
      equal(r.get("big"), big);
    }
  }

  private static void restart(String what) throws Exception {
    try (JedisPooled pool = new JedisPooled(address, config().build())) {
      pool.set("before", "restart");
      ask("RESTART " + what);
      until(() -> isBack(pool), what + " is back");
      equal(pool.get("after"), "restart");
    }
  }

  /** Neither an idle client nor one that connects sees it. */
  private static void outage(Jedis r) throws Exception {
    try (Jedis idle = open()) {
      idle.ping();
      ask("LOSE SERVER");
      equal(idle.set("outage", "idle"), "OK");
      ask("LOSE SERVER");
      try (Jedis fresh = open()) {
        equal(fresh.set("outage", "fresh"), "OK");
      }
    }
  }

  private static boolean isBack(JedisPooled pool) {
    try {
      return pool.set("after", "restart").equals("OK");
    } catch (JedisException down) {
      return false;
    }
  }

  private static void play(String name, Jedis r, Step step) throws Exception {
    step.run(r);
    System.out.println("ok " + name);
  }

  public static void main(String[] args) throws Exception {
    sockets = args.length > 2 ? trusting(args[2]) : null;
    address = new HostAndPort("127.0.0.1", Integer.parseInt(args[0]));
    protocol = args[1].equals("3") ? RedisProtocol.RESP3 : RedisProtocol.RESP2;
    try (Jedis r = open()) {
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
      play("restart_server", r, any -> restart("SERVER"));
      play("outage", r, Client::outage);
      play("restart_proxy", r, any -> restart("PROXY"));
    }
  }
}
