// SPDX-License-Identifier: Apache-2.0
// Plays requests from standard input through Caffeine, once per capacity given as argument. Prints
// a line for each: capacity, hits, fills, invalidated copies.
//
// A request is 4 bytes, little endian: the key's number, with the highest bit set for a write.
// A write invalidates the key. All maintenance runs on the calling thread.

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;

public final class CaffeineCounts {
  private static final int WRITE_BIT = 1 << 31;

  private CaffeineCounts() {}

  public static void main(String[] capacities) throws IOException {
    IntBuffer requests =
        ByteBuffer.wrap(System.in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
    for (String capacity : capacities) {
      System.out.println(capacity + " " + play(requests, Integer.parseInt(capacity)));
    }
  }

  private static String play(IntBuffer requests, int capacity) {
    Cache<Integer, Boolean> cache =
        Caffeine.newBuilder().maximumSize(capacity).executor(Runnable::run).build();
    long hits = 0;
    long fills = 0;
    long invalidated = 0;
    for (int i = 0; i < requests.limit(); i++) {
      int request = requests.get(i);
      Integer key = request & ~WRITE_BIT;
      if ((request & WRITE_BIT) != 0) {
        if (cache.asMap().remove(key) != null) {
          invalidated++;
        }
      } else if (cache.getIfPresent(key) != null) {
        hits++;
      } else {
        cache.put(key, Boolean.TRUE);
        fills++;
      }
    }
    return hits + " " + fills + " " + invalidated;
  }
}
