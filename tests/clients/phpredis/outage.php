<?php
// SPDX-License-Identifier: Apache-2.0
// phpredis in an outage: a queue that runs the commands of Laravel's (scripts that push, and that
// move a job to the reserved ones), its worker, and phpredis' own session handler. Arguments: the
// proxy's port and the RESP version (phpredis speaks RESP2).
declare(strict_types=1);

require __DIR__ . '/play.php';

const PUSH = <<<'LUA'
redis.call('rpush', KEYS[1], ARGV[1])
redis.call('rpush', KEYS[2], 1)
return redis.call('llen', KEYS[1])
LUA;
const POP = <<<'LUA'
local job = redis.call('lpop', KEYS[1])
if job == false then return false end
redis.call('zadd', KEYS[2], ARGV[1], job)
redis.call('lpop', KEYS[3])
return job
LUA;

class Queue implements Program
{
    private readonly string $queue;
    private ?Redis $redis = null;

    public function __construct(private readonly int $port, private readonly string $folder)
    {
        $this->queue = "queues:$port";
    }

    public function begin(): array
    {
        $begun = [];
        foreach (['push', 'work', 'visit'] as $name) {
            $ends = $name === 'work' ? 'worker-ends' : 'ends';
            $step = fn (): bool => $this->onConnection([$this, $name]);
            $begun[$name] = keepDoing("$this->folder/$name", "$this->folder/$ends", $step);
        }
        return $begun;
    }

    // A job whose worker got no reply is a reserved one: Laravel gives it to another one later.
    public function left(): int
    {
        $reserved = $this->connect()->zRange("$this->queue:reserved", 0, -1);
        $worked = lines("$this->folder/worked");
        return count(array_diff(lines("$this->folder/pushed"), $worked, $reserved));
    }

    public function seen(): array
    {
        return [];
    }

    private function connect(): Redis
    {
        $redis = new Redis();
        $redis->connect('127.0.0.1', $this->port, 60.0);
        $redis->auth('secret');
        return $redis;
    }

    // The connection is made anew after an exception.
    private function onConnection(callable $step): bool
    {
        $redis = $this->redis ?? $this->connect();
        $this->redis = null;
        $worked = $step($redis);
        $this->redis = $redis;
        return $worked;
    }

    private function push(Redis $redis): bool
    {
        $id = bin2hex(random_bytes(8));
        if (!is_int($redis->eval(PUSH, [$this->queue, "$this->queue:notify", $id], 2))) {
            return false;
        }
        note("$this->folder/pushed", $id);
        return true;
    }

    // A worker of Laravel's waits for a notice, then takes a job, does it, and removes it.
    private function work(Redis $redis): bool
    {
        $keys = [$this->queue, "$this->queue:reserved", "$this->queue:notify"];
        $job = $redis->eval(POP, [...$keys, (string) time()], 3);
        if ($job === false && $redis->getLastError() === null) {
            return is_array($redis->blPop([$keys[2]], 1));
        }
        if (!is_string($job)) {
            return false;
        }
        note("$this->folder/worked", $job);
        return is_int($redis->zRem($keys[1], $job));
    }

    // As a web request does it: a session is read, counted up and written by a process of its own.
    private function visit(): bool
    {
        ini_set('session.save_handler', 'redis');
        ini_set('session.save_path', "tcp://127.0.0.1:$this->port?auth=secret");
        ini_set('session.use_cookies', '0');
        session_id('visitor');
        if (!@session_start()) {
            return false;
        }
        $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
        return @session_write_close();
    }
}

playBoth((int) $argv[1], fn (int $port, string $folder): Program => new Queue($port, $folder));
