// SPDX-License-Identifier: Apache-2.0

// What a program does with go-redis, against the port and the RESP version it is given.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var ctx = context.Background()

func open(db int) *redis.Client {
	protocol, _ := strconv.Atoi(os.Args[2])
	return redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol,
		ClientName: "go-redis", DB: db, PoolSize: 16})
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

func values(r *redis.Client) {
	binary := make([]byte, 1024)
	for i := range binary {
		binary[i] = byte(i)
	}
	must(r.Set(ctx, "value", binary, 0).Err())
	got, err := r.Get(ctx, "value").Bytes()
	must(err)
	equal(bytes.Equal(got, binary), true)
	equal(r.Get(ctx, "nothing").Err(), redis.Nil)
	equal(r.SetNX(ctx, "value", "other", 0).Val(), false)
	equal(r.Del(ctx, "value").Val(), 1)
}

func pipeline(r *redis.Client) {
	replies, err := r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := 0; i < 1000; i++ {
			pipe.Incr(ctx, "pipelined")
		}
		return nil
	})
	must(err)
	for i, reply := range replies {
		equal(reply.(*redis.IntCmd).Val(), i+1)
	}
}

func transaction(r *redis.Client) {
	replace := func(meanwhile func()) error {
		return r.Watch(ctx, func(tx *redis.Tx) error {
			must(tx.Get(ctx, "watched").Err())
			meanwhile()
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Set(ctx, "watched", "mine", 0)
				return nil
			})
			return err
		}, "watched")
	}
	must(r.Set(ctx, "watched", "before", 0).Err())
	must(replace(func() {}))
	equal(r.Get(ctx, "watched").Val(), "mine")
	conflict := replace(func() { must(r.Set(ctx, "watched", "theirs", 0).Err()) })
	equal(errors.Is(conflict, redis.TxFailedErr), true)
	equal(r.Get(ctx, "watched").Val(), "theirs")
}

func publishAndSubscribe(r *redis.Client) {
	subscriber := r.Subscribe(ctx, "news")
	defer subscriber.Close()
	_, err := subscriber.Receive(ctx)
	must(err)
	must(subscriber.PSubscribe(ctx, "ne*"))
	_, err = subscriber.Receive(ctx)
	must(err)
	equal(r.Publish(ctx, "news", "now").Val(), 2)
	for i := 0; i < 2; i++ {
		message, err := subscriber.ReceiveMessage(ctx)
		must(err)
		equal(message.Payload, "now")
	}
	must(subscriber.Unsubscribe(ctx, "news"))
	_, err = subscriber.Receive(ctx)
	must(err)
	equal(r.Publish(ctx, "news", "again").Val(), 1)
}

func script(r *redis.Client) {
	must(r.ScriptFlush(ctx).Err())
	add := redis.NewScript("return redis.call('incrby', KEYS[1], ARGV[1])")
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 5) // EVALSHA, NOSCRIPT, EVAL
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 10)
	equal(r.Get(ctx, "scripted").Val(), "10")
}

func blocking(r *redis.Client) {
	equal(r.BLPop(ctx, time.Second, "queue").Err(), redis.Nil)
	popped := make(chan []string)
	go func() { popped <- r.BLPop(ctx, 5*time.Second, "queue").Val() }()
	must(r.RPush(ctx, "queue", "job").Err())
	equal(<-popped, []string{"queue", "job"})
}

func scan(r *redis.Client) {
	for i := 0; i < 500; i++ {
		must(r.Set(ctx, fmt.Sprintf("scan:%d", i), i, 0).Err())
	}
	seen := map[string]bool{}
	for keys := r.Scan(ctx, 0, "scan:*", 50).Iterator(); keys.Next(ctx); {
		seen[keys.Val()] = true
	}
	equal(len(seen), 500)
}

func streams(r *redis.Client) {
	id := r.XAdd(ctx, &redis.XAddArgs{Stream: "stream", Values: []string{"n", "1"}}).Val()
	must(r.XGroupCreate(ctx, "stream", "group", "0").Err())
	read, err := r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "group", Consumer: "one",
		Streams: []string{"stream", ">"}, Block: time.Second}).Result()
	must(err)
	equal(read[0].Messages[0].ID, id)
	equal(r.XAck(ctx, "stream", "group", id).Val(), 1)
}

func databases(r *redis.Client) {
	must(r.Set(ctx, "here", "zero", 0).Err())
	other := open(3)
	defer other.Close()
	equal(other.Get(ctx, "here").Err(), redis.Nil)
	must(other.Set(ctx, "here", "three", 0).Err())
	equal(r.Get(ctx, "here").Val(), "zero")
	equal(other.Get(ctx, "here").Val(), "three")
}

func hotKeyPool(r *redis.Client) {
	must(r.Set(ctx, "hot", "shared", 0).Err())
	var group sync.WaitGroup
	for name := 0; name < 8; name++ {
		group.Add(1)
		go func(key string) {
			defer group.Done()
			for i := 0; i < 400; i++ {
				must(r.Set(ctx, key, i, 0).Err())
				must(r.Get(ctx, "hot").Err())
				equal(r.Get(ctx, key).Val(), i) // an own write, through another connection of the pool
			}
		}(fmt.Sprintf("hot:%d", name))
	}
	group.Wait()
}

func bigValue(r *redis.Client) {
	big := strings.Repeat("x", 5000000)
	must(r.Set(ctx, "big", big, 0).Err())
	equal(r.Get(ctx, "big").Val() == big, true)
}

func restart(r *redis.Client) {
	fmt.Println("RESTART")
	bufio.NewReader(os.Stdin).ReadString('\n')
	for i := 0; i < 100 && r.Set(ctx, "after", "restart", 0).Err() != nil; i++ {
		time.Sleep(50 * time.Millisecond)
	}
	equal(r.Get(ctx, "after").Val(), "restart")
}

func main() {
	client := open(0)
	equal(client.ClientGetName(ctx).Val(), "go-redis")
	for _, step := range []struct {
		name string
		run  func(*redis.Client)
	}{{"values", values}, {"pipeline", pipeline}, {"transaction", transaction},
		{"publishAndSubscribe", publishAndSubscribe}, {"script", script}, {"blocking", blocking},
		{"scan", scan}, {"streams", streams}, {"databases", databases}, {"hotKeyPool", hotKeyPool},
		{"bigValue", bigValue}, {"restart", restart}} {
		step.run(client)
		fmt.Println("ok", step.name)
	}
}
