// SPDX-License-Identifier: Apache-2.0
// Jedis with its own cache, at the server itself and through the proxy, as Client.java is run.

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.csc.Cache;
import redis.clients.jedis.csc.DefaultCache;
import redis.clients.jedis.exceptions.JedisException;

public class Near {
  private static final long STALE_MAX_MS = 2000; // cache.max-staleness, and what the machine adds
  private static int proxy;
  private static SSLSocketFactory sockets; // null: without TLS
  private static final BufferedReader answers =
      new BufferedReader(new InputStreamReader(System.in));

  private interface Step {
    void run(int port) throws Exception;
  }

  /** Jedis refuses a server that is older than 7.4, unless a cache says that it knows better. */
  private static class AnyVersion extends DefaultCache {
    AnyVersion() {
      super(1000);
    }

    @Override
    public boolean compatibilityMode() {
      return true;
    }
  }

  private static JedisClientConfig config(int port) {
    boolean tls = sockets != null && port == proxy;
    return DefaultJedisClientConfig.builder()
        .protocol(RedisProtocol.RESP3)
        .password("secret")
        .ssl(tls)
        .sslSocketFactory(tls ? sockets : null)
        .socketTimeoutMillis(60000)
        .build();
  }

  private static JedisPooled near(int port, Cache cache) {
    return new JedisPooled(new HostAndPort("127.0.0.1", port), config(port), cache);
  }

  private static Jedis other(int port) {
    return new Jedis(new HostAndPort("127.0.0.1", port), config(port));
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

  private static void until(Callable<Boolean> holds, String what, long withinMs) throws Exception {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(withinMs);
    while (!holds.call()) {
      if (System.nanoTime() > end) throw new AssertionError(what);
      Thread.sleep(5);
    }
  }

  private static void until(Callable<Boolean> holds, String what) throws Exception {
    until(holds, what, 60_000);
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  /** Its only key is still there when all that was said of it has been read. */
  private static boolean keeps(JedisPooled near, Cache cache) {
    near.get("near");
    near.ping();
    return cache.getSize() > 0;
  }

  private static long reads(Jedis server) {
    Matcher found = Pattern.compile("cmdstat_get:calls=(\\d+)").matcher(server.info("commandstats"));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  /** What is kept is not asked for: the server sees no read of it. */
  private static void hits(int port) throws Exception {
    Cache cache = new AnyVersion();
    try (JedisPooled near = near(port, cache);
        Jedis server = other(Integer.parseInt(ask("SERVER PORT")))) {
      near.set("near", "kept");
      until(() -> keeps(near, cache), "it is kept");
      long before = Long.parseLong(ask("HITS"));
      long readsBefore = reads(server);
      for (int i = 0; i < 1000; ++i) check(near.get("near").equals("kept"), "another value");
      check(reads(server) - readsBefore < 100, "reads went to the server");
      check(Long.parseLong(ask("HITS")) - before < 100, "reads went to the proxy");
    }
  }

  /** Own writes at once, others' as soon as they are heard of. */
  private static void changes(int port) throws Exception {
    Cache cache = new AnyVersion();
    try (JedisPooled near = near(port, cache); Jedis other = other(port)) {
      for (int i = 0; i < 200; ++i) {
        String own = String.valueOf(i);
        near.set("near", own);
        check(own.equals(near.get("near")), "an own write was not read");
        if (i % 4 == 0) until(() -> keeps(near, cache), "it is kept");
        String value = "other " + i;
        other.set("near", value);
        until(() -> value.equals(near.get("near")), "the change", STALE_MAX_MS);
      }
      until(() -> keeps(near, cache), "it is kept");
      other.flushAll();
      until(() -> near.get("near") == null, "the flush", STALE_MAX_MS);
    }
  }

  /** Threads that share a cache and connections: no value is older than the bound. */
  private static void pool(int port) throws Exception {
    var writes = new ConcurrentSkipListMap<Long, Integer>(); // when it was acknowledged: the value
    writes.put(0L, 0);
    long end = System.currentTimeMillis() + 3000;
    try (JedisPooled near = near(port, new AnyVersion()); Jedis other = other(port)) {
      CompletableFuture<?>[] users = new CompletableFuture<?>[5];
      users[0] = CompletableFuture.runAsync(() -> {
        for (int value = 1; System.currentTimeMillis() < end; ++value) {
          other.set("counter", String.valueOf(value));
          writes.put(System.currentTimeMillis(), value);
          sleep(10);
        }
      });
      for (int i = 1; i < users.length; ++i)
        users[i] = CompletableFuture.runAsync(() -> readUntil(end, near, writes));
      CompletableFuture.allOf(users).join();
    }
  }

  private static void readUntil(
      long end, JedisPooled near, ConcurrentSkipListMap<Long, Integer> writes) {
    while (System.currentTimeMillis() < end) {
      long asked = System.currentTimeMillis();
      int oldest = writes.lowerEntry(asked - STALE_MAX_MS).getValue();
      String value = near.get("counter");
      check(value == null ? oldest == 0 : Integer.parseInt(value) >= oldest,
          "older than the bound");
    }
  }

  private static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException stop) {
      throw new AssertionError(stop);
    }
  }

  private static void atServer(int unused) throws Exception {
    int port = Integer.parseInt(ask("SERVER PORT"));
    hits(port);
    changes(port);
    pool(port);
  }

  /** It does not look whether its connection has ended, until it has something to ask. */
  private static boolean asksAndReads(JedisPooled near, String value) {
    try {
      near.ping();
    } catch (JedisException away) {
      return false;
    }
    return reads(near, value);
  }

  private static boolean reads(JedisPooled near, String value) {
    try {
      String got = near.get("near");
      return value == null ? got == null : value.equals(got);
    } catch (JedisException away) {
      return false;
    }
  }

  /** It comes back empty. */
  private static void lostServer(int port) throws Exception {
    Cache cache = new AnyVersion();
    try (JedisPooled near = near(port, cache)) {
      near.set("near", "lost");
      until(() -> keeps(near, cache), "it is kept");
      ask("LOSE SERVER");
      until(() -> reads(near, null), "the value is forgotten");
      near.set("near", "new");
      check("new".equals(near.get("near")), "an own write was not read");
    }
  }

  private static void restartProxy(int port) throws Exception {
    Cache cache = new AnyVersion();
    try (JedisPooled near = near(port, cache)) {
      near.set("near", "before");
      until(() -> keeps(near, cache), "it is kept");
      ask("RESTART PROXY");
      try (Jedis server = other(Integer.parseInt(ask("SERVER PORT")))) {
        server.set("near", "after");
      }
      until(() -> asksAndReads(near, "after"), "it is connected again");
    }
  }

  private static void play(String name, Step step) throws Exception {
    step.run(proxy);
    System.out.println("ok " + name);
  }

  public static void main(String[] arguments) throws Exception {
    proxy = Integer.parseInt(arguments[0]);
    sockets = arguments.length > 2 ? trusting(arguments[2]) : null;
    play("at_server", Near::atServer);
    play("hits", Near::hits);
    play("changes", Near::changes);
    play("pool", Near::pool);
    play("lost_server", Near::lostServer);
    play("restart_proxy", Near::restartProxy);
    System.exit(0);
  }
}
