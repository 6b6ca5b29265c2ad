// SPDX-License-Identifier: Apache-2.0

// What a program does with go-redis's ClusterClient. Arguments: port, RESP version.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const keys = 100

var ctx = context.Background()

var answers = bufio.NewReader(os.Stdin)

func open(set func(*redis.ClusterOptions)) *redis.ClusterClient {
	protocol, _ := strconv.Atoi(os.Args[2])
	options := &redis.ClusterOptions{Addrs: []string{"127.0.0.1:" + os.Args[1]},
		Protocol: protocol, Password: "secret", PoolSize: 16, ReadTimeout: time.Minute}
	set(options)
	return redis.NewClusterClient(options)
}

func ask(runnerDoes string) string {
	fmt.Println(runnerDoes)
	answer, err := answers.ReadString('\n')
	must(err)
	return strings.TrimSpace(answer)
}

func hits() int {
	count, err := strconv.Atoi(ask("HITS"))
	must(err)
	return count
}

func until(holds func() bool, what string) {
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			panic(what)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(got, wanted interface{}) {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		panic(fmt.Sprintf("got %v, wanted %v", got, wanted))
	}
}

func key(i int) string { return fmt.Sprintf("key:%d", i) }

func values(r *redis.ClusterClient) {
	for i := 0; i < keys; i++ {
		must(r.Set(ctx, key(i), i, 0).Err())
	}
	reader := open(func(o *redis.ClusterOptions) { o.ReadOnly = true }) // READONLY
	defer reader.Close()
	for i := 0; i < keys; i++ {
		equal(r.Get(ctx, key(i)).Val(), i)
		equal(reader.Get(ctx, key(i)).Val(), i)
	}
	must(r.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		return node.Ping(ctx).Err()
	}))
}

func sameSlot(r *redis.ClusterClient) {
	must(r.MSet(ctx, "{tag}a", 1, "{tag}b", 2).Err())
	equal(r.MGet(ctx, "{tag}a", "{tag}b", "{tag}c").Val(), []interface{}{"1", "2", nil})
}

func pipeline(r *redis.ClusterClient) {
	replies, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < keys; i++ {
			pipe.Incr(ctx, key(i)+":p")
		}
		return nil
	})
	must(err)
	for _, reply := range replies {
		equal(reply.(*redis.IntCmd).Val(), 1)
	}
}

func transaction(r *redis.ClusterClient) {
	must(r.Watch(ctx, func(tx *redis.Tx) error {
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.Set(ctx, "{t}n", 1, 0)
			pipe.Incr(ctx, "{t}n")
			return nil
		})
		return err
	}, "{t}n"))
	equal(r.Get(ctx, "{t}n").Val(), 2)
}

func publishAndSubscribe(r *redis.ClusterClient) {
	for _, subscriber := range []*redis.PubSub{r.Subscribe(ctx, "news"), r.SSubscribe(ctx, "shard")} {
		_, err := subscriber.Receive(ctx)
		must(err)
		must(r.Publish(ctx, "news", "now").Err())
		must(r.SPublish(ctx, "shard", "now").Err())
		message, err := subscriber.ReceiveMessage(ctx)
		must(err)
		equal(message.Payload, "now")
		must(subscriber.Close())
	}
}

func script(r *redis.ClusterClient) {
	must(r.ScriptFlush(ctx).Err())
	add := redis.NewScript("return redis.call('incrby', KEYS[1], ARGV[1])")
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 5) // EVALSHA, NOSCRIPT, EVAL
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 10)
}

func blocking(r *redis.ClusterClient) {
	equal(r.BLPop(ctx, time.Second, "queue").Err(), redis.Nil)
	var group sync.WaitGroup
	group.Add(1)
	go func() {
		defer group.Done()
		equal(r.BLPop(ctx, 30*time.Second, "queue").Val(), []string{"queue", "job"})
	}()
	must(r.RPush(ctx, "queue", "job").Err())
	group.Wait()
}

// Each proxy scans the whole server.
func scan(r *redis.ClusterClient) {
	must(r.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		seen := map[string]bool{}
		for found := node.Scan(ctx, 0, "key:*", 50).Iterator(); found.Next(ctx); {
			seen[found.Val()] = true
		}
		for i := 0; i < keys; i++ {
			equal(seen[key(i)], true)
		}
		return nil
	}))
}

func hotReads(r *redis.ClusterClient) {
	must(r.Set(ctx, "hot", "shared", 0).Err())
	before := hits()
	until(func() bool {
		equal(r.Get(ctx, "hot").Val(), "shared")
		return hits() > before
	}, "served locally")
	for i := 0; i < 200; i++ {
		must(r.Set(ctx, "hot", i, 0).Err())
		equal(r.Get(ctx, "hot").Val(), i) // an own write
	}
}

func restartProxy(r *redis.ClusterClient) {
	ask("RESTART PROXY")
	until(func() bool {
		for i := 0; i < keys; i++ {
			if r.Set(ctx, key(i), "restart", 0).Err() != nil {
				return false
			}
		}
		return true
	}, "the proxy is back")
}

func main() {
	client := open(func(*redis.ClusterOptions) {})
	for _, step := range []struct {
		name string
		run  func(*redis.ClusterClient)
	}{{"values", values}, {"same_slot", sameSlot}, {"pipeline", pipeline},
		{"transaction", transaction}, {"publish_and_subscribe", publishAndSubscribe},
		{"script", script}, {"blocking", blocking}, {"scan", scan}, {"hot_reads", hotReads},
		{"restart_proxy", restartProxy}} {
		step.run(client)
		fmt.Println("ok", step.name)
	}
}
