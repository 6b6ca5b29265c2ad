// SPDX-License-Identifier: Apache-2.0

// What a program does with go-redis. Arguments: port, RESP version, and with TLS the authority.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
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

var answers = bufio.NewReader(os.Stdin)

func options() *redis.Options {
	protocol, _ := strconv.Atoi(os.Args[2])
	options := &redis.Options{Addr: "127.0.0.1:" + os.Args[1], Protocol: protocol,
		Password: "secret", PoolSize: 16, ReadTimeout: time.Minute}
	if len(os.Args) > 3 {
		authority, err := os.ReadFile(os.Args[3])
		must(err)
		options.TLSConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		equal(options.TLSConfig.RootCAs.AppendCertsFromPEM(authority), true)
	}
	return options
}

func open(set func(*redis.Options)) *redis.Client {
	options := options()
	set(options)
	return redis.NewClient(options)
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

func startup(r *redis.Client) {
	named := open(func(o *redis.Options) { o.ClientName = "go-redis" })
	defer named.Close()
	equal(named.ClientGetName(ctx).Val(), "go-redis")
	equal(strings.Contains(named.Info(ctx, "server").Val(), "redis_version:"), true)
	equal(len(named.Command(ctx).Val()) > 200, true)
	equal(named.Echo(ctx, "hello").Val(), "hello")
}

func password(r *redis.Client) {
	wrong := open(func(o *redis.Options) { o.Password = "wrong" })
	defer wrong.Close()
	equal(strings.HasPrefix(wrong.Ping(ctx).Err().Error(), "WRONGPASS"), true)
}

func aclUser(r *redis.Client) {
	app := open(func(o *redis.Options) { o.Username, o.Password = "app", "app-secret" })
	defer app.Close()
	equal(app.Do(ctx, "ACL", "WHOAMI").Val(), "app")
	must(app.Set(ctx, "app's", "1", 0).Err())
	equal(app.Get(ctx, "app's").Val(), "1")
	equal(r.Get(ctx, "app's").Val(), "1")
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
	message, err := subscriber.ReceiveMessage(ctx)
	must(err)
	equal(message.Pattern+message.Payload, "ne*again")
	must(subscriber.PUnsubscribe(ctx, "ne*"))
	_, err = subscriber.Receive(ctx)
	must(err)
	equal(r.Publish(ctx, "news", "to nobody").Val(), 0)
}

func script(r *redis.Client) {
	must(r.ScriptFlush(ctx).Err())
	add := redis.NewScript("return redis.call('incrby', KEYS[1], ARGV[1])")
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 5) // EVALSHA, NOSCRIPT, EVAL
	equal(add.Run(ctx, r, []string{"scripted"}, 5).Val(), 10)
	equal(r.Get(ctx, "scripted").Val(), "10")
}

func function(r *redis.Client) {
	must(r.FunctionLoadReplace(ctx, `#!lua name=numbers
		redis.register_function('add', function(keys, arguments)
			return redis.call('incrby', keys[1], arguments[1])
		end)`).Err())
	equal(r.FCall(ctx, "add", []string{"function's"}, 5).Val(), 5)
	equal(r.Get(ctx, "function's").Val(), "5")
}

func blocking(r *redis.Client) {
	equal(r.BLPop(ctx, time.Second, "queue").Err(), redis.Nil)
	popped := make(chan []string)
	go func() { popped <- r.BLPop(ctx, 30*time.Second, "queue").Val() }()
	until(func() bool {
		return strings.Contains(r.Info(ctx, "clients").Val(), "blocked_clients:1\r")
	}, "BLPOP waits")
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
	other := open(func(o *redis.Options) { o.DB = 3 })
	defer other.Close()
	equal(other.Get(ctx, "here").Err(), redis.Nil)
	must(other.Set(ctx, "here", "three", 0).Err())
	equal(r.Get(ctx, "here").Val(), "zero")
	equal(other.Get(ctx, "here").Val(), "three")
}

func pool(r *redis.Client) {
	must(r.Set(ctx, "hot", "shared", 0).Err())
	var group sync.WaitGroup
	for name := 0; name < 8; name++ {
		group.Add(1)
		go func(key string) {
			defer group.Done()
			for i := 0; i < 300; i++ {
				must(r.Set(ctx, key, i, 0).Err())
				must(r.Get(ctx, "hot").Err())
				equal(r.Get(ctx, key).Val(), i) // an own write, through another connection of the pool
			}
		}(fmt.Sprintf("hot:%d", name))
	}
	group.Wait()
}

func hotReads(r *redis.Client) {
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

func bigValue(r *redis.Client) {
	for _, size := range []int{1000000, 5000000} {
		big := strings.Repeat("x", size)
		must(r.Set(ctx, "big", big, 0).Err())
		equal(r.Get(ctx, "big").Val() == big, true)
	}
}

func restart(what string) func(*redis.Client) {
	return func(r *redis.Client) {
		ask("RESTART " + what)
		isBack := func() bool { return r.Set(ctx, "after", "restart", 0).Err() == nil }
		until(isBack, what+" is back")
		equal(r.Get(ctx, "after").Val(), "restart")
	}
}

// Neither an idle client nor one that connects sees it, even if it does not try again.
func outage(*redis.Client) {
	once := options()
	once.MaxRetries = -1
	idle := redis.NewClient(once)
	defer idle.Close()
	equal(idle.Ping(ctx).Err(), nil)
	ask("LOSE SERVER")
	equal(idle.Set(ctx, "outage", "idle", 0).Err(), nil)
	ask("LOSE SERVER")
	fresh := redis.NewClient(once)
	defer fresh.Close()
	equal(fresh.Set(ctx, "outage", "fresh", 0).Err(), nil)
}

func main() {
	client := redis.NewClient(options())
	for _, step := range []struct {
		name string
		run  func(*redis.Client)
	}{{"startup", startup}, {"password", password}, {"acl_user", aclUser}, {"values", values},
		{"pipeline", pipeline}, {"transaction", transaction},
		{"publish_and_subscribe", publishAndSubscribe}, {"script", script},
		{"function", function}, {"blocking", blocking}, {"scan", scan}, {"streams", streams},
		{"databases", databases}, {"pool", pool}, {"hot_reads", hotReads},
		{"big_value", bigValue}, {"restart_server", restart("SERVER")},
		{"outage", outage},
		{"restart_proxy", restart("PROXY")}} {
		step.run(client)
		fmt.Println("ok", step.name)
	}
}
