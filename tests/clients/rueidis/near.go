// SPDX-License-Identifier: Apache-2.0

// rueidis with its own cache, at the server itself and through the proxy. Arguments: port, RESP
// version, and with TLS the authority.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"
)

const staleMax = 2 * time.Second // cache.max-staleness, and what the machine adds

var ctx = context.Background()

var answers = bufio.NewReader(os.Stdin)

func connect(port string) rueidis.Client {
	options := rueidis.ClientOption{InitAddress: []string{"127.0.0.1:" + port}, Password: "secret",
		ConnWriteTimeout: time.Minute}
	if len(os.Args) > 3 && port == os.Args[1] {
		authority, err := os.ReadFile(os.Args[3])
		must(err)
		options.TLSConfig = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost"}
		check(options.TLSConfig.RootCAs.AppendCertsFromPEM(authority), "no certificate")
	}
	client, err := rueidis.NewClient(options)
	must(err)
	return client
}

func ask(runnerDoes string) string {
	fmt.Println(runnerDoes)
	answer, err := answers.ReadString('\n')
	must(err)
	return strings.TrimSpace(answer)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func until(within time.Duration, what string, holds func() bool) {
	for end := time.Now().Add(within); !holds(); time.Sleep(5 * time.Millisecond) {
		check(time.Now().Before(end), what)
	}
}

func set(r rueidis.Client, key, value string) {
	must(r.Do(ctx, r.B().Set().Key(key).Value(value).Build()).Error())
}

// From the client's cache, if it has the key.
func read(r rueidis.Client, key string) rueidis.RedisResult {
	return r.DoCache(ctx, r.B().Get().Key(key).Cache(), time.Minute)
}

func reads(r rueidis.Client, value string) bool {
	got, err := read(r, "near").ToString()
	return err == nil && got == value
}

// It is still there when all that was said of it has been read.
func keeps(r rueidis.Client) bool {
	read(r, "near")
	must(r.Do(ctx, r.B().Ping().Build()).Error())
	again := read(r, "near")
	return again.IsCacheHit()
}

func transactions(server rueidis.Client) int {
	stats, err := server.Do(ctx, server.B().Info().Section("commandstats").Build()).ToString()
	must(err)
	found := regexp.MustCompile(`cmdstat_multi:calls=(\d+)`).FindStringSubmatch(stats)
	if found == nil {
		return 0
	}
	return number(found[1])
}

// What is kept is not asked for: the server sees no read of it. What the proxy has a copy of is
// read without a transaction at the server.
func hits(port string) {
	near, server := connect(port), connect(ask("SERVER PORT"))
	defer near.Close()
	defer server.Close()
	set(near, "near", "kept")
	must(near.Do(ctx, near.B().Pexpire().Key("near").Milliseconds(3_600_000).Build()).Error())
	until(time.Minute, "it is kept", func() bool { return keeps(near) })
	ttl := read(near, "near")
	left := ttl.CachePTTL()
	check(left > 50_000 && left <= 60_000, fmt.Sprint("it has a TTL of ", left, " ms"))
	before, served := transactions(server), number(ask("HITS"))
	for i := 0; i < 1000; i++ {
		check(reads(near, "kept"), "another value")
	}
	check(transactions(server)-before < 100, "reads went to the server")
	check(number(ask("HITS"))-served < 100, "reads went to the proxy")
	if port != os.Args[1] {
		return
	}
	before = transactions(server)
	for i := 0; i < 20; i++ {
		another := connect(port)
		check(reads(another, "kept"), "another value")
		another.Close()
	}
	check(transactions(server)-before < 10, "the copy did not answer")
}

// Writes, own ones too, as soon as they are heard of: rueidis handles a push after the reply that
// stands before it has been passed on.
func changes(port string) {
	near, other := connect(port), connect(port)
	defer near.Close()
	defer other.Close()
	for i := 0; i < 200; i++ {
		own, others := strconv.Itoa(i), fmt.Sprint("other ", i)
		set(near, "near", own)
		until(staleMax, "the own write", func() bool { return reads(near, own) })
		if i%4 == 0 {
			until(time.Minute, "it is kept", func() bool { return keeps(near) })
		}
		set(other, "near", others)
		until(staleMax, "the change", func() bool { return reads(near, others) })
	}
	must(other.Do(ctx, other.B().Flushall().Build()).Error())
	until(staleMax, "the flush", func() bool { return isGone(near) })
}

func isGone(r rueidis.Client) bool {
	got := read(r, "near")
	return rueidis.IsRedisNil(got.Error())
}

// Goroutines that share a client: no value is older than the bound.
func pool(port string) {
	near, other := connect(port), connect(port)
	defer near.Close()
	defer other.Close()
	var lock sync.Mutex
	written := []time.Time{time.Now()} // when each value was acknowledged
	end := time.Now().Add(3 * time.Second)
	var users sync.WaitGroup
	users.Add(5)
	go func() {
		defer users.Done()
		for value := 1; time.Now().Before(end); value++ {
			set(other, "counter", strconv.Itoa(value))
			lock.Lock()
			written = append(written, time.Now())
			lock.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
	}()
	for i := 0; i < 4; i++ {
		go func() {
			defer users.Done()
			for time.Now().Before(end) {
				oldest := 0
				asked := time.Now().Add(-staleMax)
				lock.Lock()
				for value, at := range written {
					if at.Before(asked) {
						oldest = value
					}
				}
				lock.Unlock()
				got, err := read(near, "counter").AsInt64()
				check(rueidis.IsRedisNil(err) || err == nil, fmt.Sprint(err))
				check(got >= int64(oldest), "older than the bound")
			}
		}()
	}
	users.Wait()
}

func atServer(string) {
	port := ask("SERVER PORT")
	hits(port)
	changes(port)
	pool(port)
}

// It comes back empty.
func lostServer(port string) {
	near := connect(port)
	defer near.Close()
	set(near, "near", "lost")
	until(time.Minute, "it is kept", func() bool { return keeps(near) })
	ask("LOSE SERVER")
	until(time.Minute, "the value is forgotten", func() bool { return isGone(near) })
	set(near, "near", "new")
	until(staleMax, "the own write", func() bool { return reads(near, "new") })
}

func restartProxy(port string) {
	near := connect(port)
	defer near.Close()
	set(near, "near", "before")
	until(time.Minute, "it is kept", func() bool { return keeps(near) })
	ask("RESTART PROXY")
	server := connect(ask("SERVER PORT"))
	defer server.Close()
	set(server, "near", "after")
	until(time.Minute, "it is connected again", func() bool { return reads(near, "after") })
}

func main() {
	for _, step := range []struct {
		name string
		run  func(string)
	}{{"at_server", atServer}, {"hits", hits}, {"changes", changes}, {"pool", pool},
		{"lost_server", lostServer}, {"restart_proxy", restartProxy}} {
		step.run(os.Args[1])
		fmt.Println("ok", step.name)
	}
}
