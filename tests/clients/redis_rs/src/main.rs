// SPDX-License-Identifier: Apache-2.0
//! What a program does with redis-rs. Arguments: port, RESP version.

use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{Client, Commands, Connection, ErrorKind, ExistenceCheck, RedisResult, SetOptions};
use std::cell::Cell;
use std::collections::HashSet;
use std::io::{stdin, BufRead};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn client(login: &str, db: u8) -> Client {
    let mut arguments = std::env::args().skip(1);
    let (port, resp) = (arguments.next().unwrap(), arguments.next().unwrap());
    let url = format!("redis://{login}@127.0.0.1:{port}/{db}?protocol=resp{resp}");
    Client::open(url).unwrap()
}

fn open() -> Connection {
    connected(&client(":secret", 0)).unwrap()
}

fn connected(client: &Client) -> RedisResult<Connection> {
    let connection = client.get_connection()?;
    connection.set_read_timeout(Some(PATIENCE))?;
    Ok(connection)
}

fn ask(runner_does: &str) -> String {
    println!("{runner_does}");
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).unwrap();
    answer.trim().to_owned()
}

fn hits() -> u64 {
    ask("HITS").parse().unwrap()
}

fn until(mut holds: impl FnMut() -> bool, what: &str) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn startup(_: &mut Connection) -> RedisResult<()> {
    let mut own = open();
    let () = own.client_setname("redis-rs")?;
    assert_eq!(own.client_getname::<String>()?, "redis-rs");
    let info: redis::InfoDict = redis::cmd("INFO").arg("server").query(&mut own)?;
    assert!(info.get::<String>("redis_version").is_some());
    let commands: u32 = redis::cmd("COMMAND").arg("COUNT").query(&mut own)?;
    assert!(commands > 200);
    let echo: String = redis::cmd("ECHO").arg("hello").query(&mut own)?;
    assert_eq!(echo, "hello");
    Ok(())
}

fn password(_: &mut Connection) -> RedisResult<()> {
    let refused = client(":wrong", 0).get_connection().err().unwrap();
    // Of AUTH it makes a kind of its own, of HELLO AUTH it gives the server's word.
    let told = refused.kind() == ErrorKind::AuthenticationFailed;
    assert!(told || refused.code() == Some("WRONGPASS"), "{refused}");
    Ok(())
}

fn acl_user(r: &mut Connection) -> RedisResult<()> {
    let mut app = connected(&client("app:app-secret", 0))?;
    let user: String = redis::cmd("ACL").arg("WHOAMI").query(&mut app)?;
    assert_eq!(user, "app");
    let () = app.set("app's", 1)?;
    assert_eq!((app.get("app's")?, r.get("app's")?), (1, 1));
    Ok(())
}

fn values(r: &mut Connection) -> RedisResult<()> {
    let binary: Vec<u8> = (0..1024).map(|i| i as u8).collect();
    let () = r.set("value", &binary)?;
    assert_eq!(r.get::<_, Vec<u8>>("value")?, binary);
    assert_eq!(r.get::<_, Option<String>>("nothing")?, None);
    let new = SetOptions::default().conditional_set(ExistenceCheck::NX);
    assert_eq!(r.set_options::<_, _, Option<String>>("value", "other", new)?, None);
    assert_eq!(r.del::<_, u32>("value")?, 1);
    Ok(())
}

fn pipeline(r: &mut Connection) -> RedisResult<()> {
    let mut pipe = redis::pipe();
    for _ in 0..1000 {
        pipe.incr("pipelined", 1);
    }
    let counted: Vec<u32> = pipe.query(r)?;
    assert!(counted.into_iter().eq(1..=1000));
    Ok(())
}

// redis::transaction() watches, and begins anew when there was a conflict.
fn transaction(r: &mut Connection) -> RedisResult<()> {
    let attempts = Cell::new(0);
    let (before,): (String,) = redis::transaction(r, &["watched"], |r, pipe| {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            let () = open().set("watched", "theirs")?;
        }
        let seen: String = r.get("watched")?;
        pipe.set("watched", "mine").ignore().echo(seen).query(r)
    })?;
    assert_eq!((attempts.get(), before.as_str()), (2, "theirs"));
    assert_eq!(r.get::<_, String>("watched")?, "mine");
    Ok(())
}

trait Echo {
    fn echo(&mut self, text: String) -> &mut Self;
}

impl Echo for redis::Pipeline {
    fn echo(&mut self, text: String) -> &mut Self {
        self.cmd("ECHO").arg(text)
    }
}

fn publish_and_subscribe(r: &mut Connection) -> RedisResult<()> {
    let mut own = open();
    let mut subscriber = own.as_pubsub();
    subscriber.set_read_timeout(Some(PATIENCE))?;
    subscriber.subscribe("news")?;
    subscriber.psubscribe("ne*")?;
    assert_eq!(r.publish::<_, _, u32>("news", "now")?, 2);
    for _ in 0..2 {
        assert_eq!(subscriber.get_message()?.get_payload::<String>()?, "now");
    }
    subscriber.unsubscribe("news")?;
    assert_eq!(r.publish::<_, _, u32>("news", "again")?, 1);
    let message = subscriber.get_message()?;
    assert!(message.from_pattern());
    assert_eq!(message.get_payload::<String>()?, "again");
    subscriber.punsubscribe("ne*")?;
    assert_eq!(r.publish::<_, _, u32>("news", "to nobody")?, 0);
    Ok(())
}

fn script(r: &mut Connection) -> RedisResult<()> {
    let () = redis::cmd("SCRIPT").arg("FLUSH").query(r)?;
    let script = redis::Script::new("return redis.call('incrby', KEYS[1], ARGV[1])");
    let mut add = script.key("scripted");
    add.arg(5);
    assert_eq!(add.invoke::<u32>(r)?, 5); // EVALSHA, NOSCRIPT, SCRIPT LOAD, EVALSHA
    assert_eq!(add.invoke::<u32>(r)?, 10);
    assert_eq!(r.get::<_, u32>("scripted")?, 10);
    Ok(())
}

fn function(r: &mut Connection) -> RedisResult<()> {
    let add = "#!lua name=numbers
        redis.register_function('add', function(keys, arguments)
            return redis.call('incrby', keys[1], arguments[1])
        end)";
    let () = redis::cmd("FUNCTION").arg(&["LOAD", "REPLACE", add]).query(r)?;
    let sum: u32 = redis::cmd("FCALL").arg(&["add", "1", "function's", "5"]).query(r)?;
    assert_eq!((sum, r.get("function's")?), (5, 5));
    Ok(())
}

fn blocking(r: &mut Connection) -> RedisResult<()> {
    assert_eq!(r.blpop::<_, Option<(String, String)>>("queue", 0.1)?, None);
    let popped = thread::spawn(|| open().blpop::<_, (String, String)>("queue", 30.0));
    let waits = || {
        let info: RedisResult<redis::InfoDict> = redis::cmd("INFO").arg("clients").query(r);
        info.unwrap().get::<u32>("blocked_clients") == Some(1)
    };
    until(waits, "BLPOP waits");
    let () = r.rpush("queue", "job")?;
    assert_eq!(popped.join().unwrap()?, ("queue".to_owned(), "job".to_owned()));
    Ok(())
}

fn scan(r: &mut Connection) -> RedisResult<()> {
    let all: Vec<(String, u32)> = (0..500).map(|i| (format!("scan:{i}"), i)).collect();
    let () = r.mset(&all)?;
    let seen: RedisResult<HashSet<String>> = r.scan_match("scan:*")?.collect();
    assert_eq!(seen?.len(), 500);
    Ok(())
}

fn streams(r: &mut Connection) -> RedisResult<()> {
    let id: String = r.xadd("stream", "*", &[("n", "1")])?;
    let () = r.xgroup_create("stream", "group", "0")?;
    let options = StreamReadOptions::default().group("group", "one").block(1000);
    let read: StreamReadReply = r.xread_options(&["stream"], &[">"], &options)?;
    assert_eq!(read.keys[0].ids[0].id, id);
    assert_eq!(r.xack::<_, _, _, u32>("stream", "group", &[&id])?, 1);
    Ok(())
}

fn databases(r: &mut Connection) -> RedisResult<()> {
    let () = r.set("here", "zero")?;
    let mut other = connected(&client(":secret", 3))?;
    assert_eq!(other.get::<_, Option<String>>("here")?, None);
    let () = other.set("here", "three")?;
    assert_eq!(r.get::<_, String>("here")?, "zero");
    let () = redis::cmd("SELECT").arg(0).query(&mut other)?;
    assert_eq!(other.get::<_, String>("here")?, "zero");
    Ok(())
}

// Eight threads with a connection each: a pool is another crate's affair.
fn pool(r: &mut Connection) -> RedisResult<()> {
    let () = r.set("hot", "shared")?;
    let users = (0..8).map(|i| thread::spawn(move || use_own(format!("hot:{i}"))));
    for user in users.collect::<Vec<_>>() {
        user.join().unwrap()?;
    }
    Ok(())
}

fn use_own(key: String) -> RedisResult<()> {
    let mut r = open();
    for i in 0..300 {
        let () = r.set(&key, i)?;
        let _: String = r.get("hot")?;
        assert_eq!(r.get::<_, u32>(&key)?, i, "an own write was not read");
    }
    Ok(())
}

fn hot_reads(r: &mut Connection) -> RedisResult<()> {
    let () = r.set("hot", "shared")?;
    let before = hits();
    let served_locally = || {
        assert_eq!(r.get::<_, String>("hot").unwrap(), "shared");
        hits() > before
    };
    until(served_locally, "served locally");
    for i in 0..200 {
        let () = r.set("hot", i)?;
        assert_eq!(r.get::<_, u32>("hot")?, i, "an own write was not read");
    }
    Ok(())
}

fn big_value(r: &mut Connection) -> RedisResult<()> {
    for bytes in [1_000_000, 5_000_000] {
        let big = "x".repeat(bytes);
        let () = r.set("big", &big)?;
        assert!(r.get::<_, String>("big")? == big);
    }
    Ok(())
}

// A connection that is lost stays lost: the client makes another.
fn restart(r: &mut Connection, what: &str) -> RedisResult<()> {
    ask(&format!("RESTART {what}"));
    let is_back = || {
        let done: RedisResult<()> = r.set("after", "restart");
        if done.is_err() {
            if let Ok(another) = connected(&client(":secret", 0)) {
                *r = another;
            }
        }
        done.is_ok()
    };
    until(is_back, what);
    assert_eq!(r.get::<_, String>("after")?, "restart");
    Ok(())
}

// Neither an idle client nor one that connects sees it.
fn outage(_: &mut Connection) -> RedisResult<()> {
    let mut idle = open();
    ask("LOSE SERVER");
    idle.set::<_, _, ()>("outage", "idle")?;
    ask("LOSE SERVER");
    let mut fresh = open();
    fresh.set::<_, _, ()>("outage", "fresh")
}

type Step = fn(&mut Connection) -> RedisResult<()>;
const STEPS: [(&str, Step); 19] = [
    ("startup", startup),
    ("password", password),
    ("acl_user", acl_user),
    ("values", values),
    ("pipeline", pipeline),
    ("transaction", transaction),
    ("publish_and_subscribe", publish_and_subscribe),
    ("script", script),
    ("function", function),
    ("blocking", blocking),
    ("scan", scan),
    ("streams", streams),
    ("databases", databases),
    ("pool", pool),
    ("hot_reads", hot_reads),
    ("big_value", big_value),
    ("restart_server", |r| restart(r, "SERVER")),
    ("outage", outage),
    ("restart_proxy", |r| restart(r, "PROXY")),
];

fn main() -> RedisResult<()> {
    let mut r = open();
    for (name, step) in STEPS {
        step(&mut r)?;
        println!("ok {name}");
    }
    Ok(())
}
