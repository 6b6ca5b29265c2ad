// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.Lifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/**
 * A server that restarts within a second, twice, as Spring Data Redis sees it: direct and through
 * the proxy, with Jedis and with Lettuce. Arguments: the proxy's port and the RESP version, which
 * Spring does not choose.
 */
final class Client {
  private static final int THREADS = 4;
  private static final int LOSSES = 2;
  private static final long PAUSE_MS = 10; // between two operations of a thread
  private static final long CALM_MS = 2000; // before, between and behind the losses
  private static final long END_MS = 30000; // at most, until all is well again

  private static final Scanner ANSWERS = new Scanner(System.in);

  private static String ask(String runnerDoes) {
    System.out.println(runnerDoes);
    return ANSWERS.nextLine();
  }

  private interface Condition {
    boolean holds();
  }

  private static boolean waitFor(Condition reached) throws InterruptedException {
    long until = System.currentTimeMillis() + END_MS;
    while (!reached.holds() && System.currentTimeMillis() < until) Thread.sleep(20);
    return reached.holds();
  }

  /** What the program sees of it. */
  private static final class Seen {
    final AtomicInteger done = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();
    final AtomicInteger wrong = new AtomicInteger(); // answers to another question
    final AtomicInteger broken = new AtomicInteger(); // threads whose operations fail for ever
    boolean listens; // the listener hears what is published behind the last loss

    @Override
    public String toString() {
      return String.format("%d done, %d failed, %d wrong, %d of %d threads broken, the listener %s",
          done.get(), failed.get(), wrong.get(), broken.get(), THREADS,
          listens ? "is back" : "is dead");
    }
  }

  /** A value that it has written itself is read again. */
  private static void use(StringRedisTemplate template, int number, Seen seen, AtomicBoolean ends) {
    String key = "thread-" + number;
    boolean works = false;
    for (int i = 0; !ends.get(); ++i) {
      try {
        template.opsForValue().set(key, key + "-" + i);
        String got = template.opsForValue().get(key);
        works = (key + "-" + i).equals(got);
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

  private static boolean publish(StringRedisTemplate template, String message) {
    try {
      template.convertAndSend("news-all", message);
      return true;
    } catch (RuntimeException error) {
      return false;
    }
  }

  private static Seen restartUnder(RedisConnectionFactory factory) throws Exception {
    Seen seen = new Seen();
    StringRedisTemplate template = new StringRedisTemplate(factory);
    AtomicReference<String> heard = new AtomicReference<>("");
    RedisMessageListenerContainer listener = new RedisMessageListenerContainer();
    listener.setConnectionFactory(factory);
    listener.setRecoveryInterval(200);
    listener.addMessageListener((message, pattern) -> heard.set(message.toString()),
        new PatternTopic("news*"));
    listener.afterPropertiesSet();
    listener.start();
    AtomicBoolean ends = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; ++i) {
      int number = i;
      threads.add(new Thread(() -> use(template, number, seen, ends)));
      threads.get(i).start();
    }
    if (!waitFor(() -> publish(template, "first") && heard.get().equals("first")))
      throw new AssertionError("the listener hears nothing");
    Thread.sleep(CALM_MS);
    for (int i = 0; i < LOSSES; ++i) {
      ask("LOSE SERVER");
      Thread.sleep(CALM_MS);
    }
    seen.listens = waitFor(() -> publish(template, "last") && heard.get().equals("last"));
    ends.set(true);
    for (Thread thread : threads) thread.join();
    listener.destroy();
    return seen;
  }

  private static RedisStandaloneConfiguration at(int port) {
    RedisStandaloneConfiguration out = new RedisStandaloneConfiguration("127.0.0.1", port);
    out.setPassword("secret");
    return out;
  }

  private static <Factory extends RedisConnectionFactory & InitializingBean & Lifecycle
      & DisposableBean> Seen with(Factory factory) throws Exception {
    factory.afterPropertiesSet();
    factory.start();
    Seen seen = restartUnder(factory);
    factory.destroy();
    return seen;
  }

  private static void compare(String driver, Seen direct, Seen through) {
    System.out.println("Spring Data Redis, " + driver + ", direct: " + direct);
    System.out.println("Spring Data Redis, " + driver + ", through the proxy: " + through);
    boolean fine = through.failed.get() <= direct.failed.get()
        && through.wrong.get() <= direct.wrong.get()
        && through.broken.get() <= direct.broken.get() && (through.listens || !direct.listens);
    if (!fine) throw new AssertionError(driver + ": it is worse through the proxy");
  }

  public static void main(String[] args) throws Exception {
    int proxy = Integer.parseInt(args[0]);
    int server = Integer.parseInt(ask("SERVER PORT"));
    compare("Jedis", with(new JedisConnectionFactory(at(server))),
        with(new JedisConnectionFactory(at(proxy))));
    System.out.println("ok jedis_as_direct");
    compare("Lettuce", with(new LettuceConnectionFactory(at(server))),
        with(new LettuceConnectionFactory(at(proxy))));
    System.out.println("ok lettuce_as_direct");
    System.exit(0);
  }
}
