// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.cache.autoconfigure.RedisCacheManagerBuilderCustomizer;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.cache.RedisCacheWriter;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A Spring Boot program with Boot's own settings: @Cacheable, its health check, and a server that
 * restarts within a second, twice, direct and through the proxy. Arguments: the proxy's port and
 * the RESP version, which Boot does not choose.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableCaching
@Import(Client.Prices.class)
class Client {
  private static final int THREADS = 4;
  private static final int LOSSES = 2;
  private static final int READS = 20; // between two looks at the proxy's count
  private static final long PAUSE_MS = 10; // between two operations of a thread
  private static final long CALM_MS = 2000; // before, between and behind the losses
  private static final long END_MS = 30000; // at most, until all is well again

  private static final Scanner ANSWERS = new Scanner(System.in);

  /** What costs so much that its results are kept. */
  static class Prices {
    private final AtomicInteger lookUps = new AtomicInteger();

    @Cacheable("prices")
    public String price(int product) {
      return product + " costs " + lookUps.incrementAndGet();
    }

    @CacheEvict("prices")
    public void forget(int product) {}

    /** The last price that price() has made. */
    public String latest(int product) {
      return product + " costs " + lookUps.get();
    }
  }

  /** Without this setting, Spring Data Redis 4 writes and evicts after the call has returned. */
  @Bean
  RedisCacheManagerBuilderCustomizer immediateWrites(RedisConnectionFactory factory) {
    RedisCacheWriter writer = RedisCacheWriter.create(factory, with -> with.immediateWrites());
    return builder -> builder.cacheWriter(writer);
  }

  private static String ask(String runnerDoes) {
    System.out.println(runnerDoes);
    return ANSWERS.nextLine();
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  private interface Condition {
    boolean holds();
  }

  private static boolean waitFor(Condition reached) throws InterruptedException {
    long until = System.currentTimeMillis() + END_MS;
    while (!reached.holds() && System.currentTimeMillis() < until) Thread.sleep(20);
    return reached.holds();
  }

  private static ConfigurableApplicationContext startedAt(int port) {
    return new SpringApplicationBuilder(Client.class).web(WebApplicationType.NONE)
        .properties("spring.data.redis.port=" + port, "spring.data.redis.password=secret",
            "spring.data.redis.timeout=5s", "spring.main.lazy-initialization=true",
            "spring.main.banner-mode=off", "logging.level.root=off")
        .run();
  }

  private static int hits() {
    return Integer.parseInt(ask("HITS"));
  }

  /** The proxy serves what Boot has cached, and nothing that Boot has evicted. */
  private static void cacheable(Prices prices) throws Exception {
    String first = prices.price(1);
    int before = hits();
    boolean local = waitFor(() -> {
      for (int i = 0; i < READS; ++i) check(prices.price(1).equals(first), "another price");
      return hits() >= before + READS;
    });
    check(local, "no read of the cache was served locally");
    for (int i = 0; i < READS; ++i) {
      String old = prices.price(1);
      prices.forget(1);
      check(!prices.price(1).equals(old), "an evicted price is still there");
      check(prices.price(1).equals(prices.latest(1)), "not the price that was cached last");
    }
  }

  private static String statusOf(HealthEndpoint health) {
    return health.healthForPath("redis").getStatus().getCode();
  }

  private static void health(HealthEndpoint health) throws Exception {
    check(statusOf(health).equals("UP"), "not healthy");
    ask("KILL SERVER");
    check(waitFor(() -> statusOf(health).equals("DOWN")), "healthy without a server");
    ask("RESTART SERVER");
    check(waitFor(() -> statusOf(health).equals("UP")), "not healthy again");
  }

  /** What the program sees of an outage. */
  private static final class Seen {
    final AtomicInteger done = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();
    final AtomicInteger wrong = new AtomicInteger(); // another product's price
    final AtomicInteger broken = new AtomicInteger(); // threads whose operations fail for ever

    @Override
    public String toString() {
      return String.format("%d done, %d failed, %d wrong, %d of %d threads broken", done.get(),
          failed.get(), wrong.get(), broken.get(), THREADS);
    }
  }

  private static void use(Prices prices, int product, Seen seen, AtomicBoolean ends) {
    boolean works = false;
    for (int i = 0; !ends.get(); ++i) {
      try {
        works = prices.price(product).startsWith(product + " costs ");
        if (i % 4 == 0) prices.forget(product);
        (works ? seen.done : seen.wrong).incrementAndGet();
        Thread.sleep(PAUSE_MS);
      } catch (InterruptedException ended) {
        return;
      } catch (RuntimeException error) {
        works = false;
        seen.failed.incrementAndGet();
      }
    }
    if (!works) seen.broken.incrementAndGet();
  }

  private static Seen restartUnder(Prices prices) throws Exception {
    Seen seen = new Seen();
    AtomicBoolean ends = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      int product = 100 + i;
      threads.add(new Thread(() -> use(prices, product, seen, ends)));
      threads.get(i).start();
    }
    Thread.sleep(CALM_MS);
    for (int i = 0; i < LOSSES; ++i) {
      ask("LOSE SERVER");
      Thread.sleep(CALM_MS);
    }
    int before = seen.done.get();
    check(waitFor(() -> seen.done.get() > before + THREADS), "nothing works behind the outage");
    ends.set(true);
    for (Thread thread : threads) thread.join();
    return seen;
  }

  private static void compare(Seen direct, Seen through) {
    System.out.println("Spring Boot, direct: " + direct);
    System.out.println("Spring Boot, through the proxy: " + through);
    check(through.failed.get() <= direct.failed.get() && through.wrong.get() <= direct.wrong.get()
        && through.broken.get() <= direct.broken.get(), "it is worse through the proxy");
  }

  public static void main(String[] args) throws Exception {
    ConfigurableApplicationContext through = startedAt(Integer.parseInt(args[0]));
    cacheable(through.getBean(Prices.class));
    System.out.println("ok cacheable");
    health(through.getBean(HealthEndpoint.class));
    System.out.println("ok health");
    ConfigurableApplicationContext direct = startedAt(Integer.parseInt(ask("SERVER PORT")));
    Seen seenDirect = restartUnder(direct.getBean(Prices.class));
    compare(seenDirect, restartUnder(through.getBean(Prices.class)));
    System.out.println("ok as_direct");
    System.exit(0);
  }
}
