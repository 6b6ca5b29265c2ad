<?php
// SPDX-License-Identifier: Apache-2.0
// A server that restarts within a second, twice, as PHP programs see it: direct and through the
// proxy. They are a queue that runs the commands of Laravel's (scripts that push, and that move a
// job to the reserved ones), its worker, and phpredis' own session handler. Arguments: the proxy's
// port and the RESP version (phpredis speaks RESP2).
declare(strict_types=1);

const LOSSES = 2;
const PAUSE_US = 10_000;   // between two jobs
const CALM_S = 2;          // before, between and behind the losses
const END_S = 30;          // at most, to do what is left
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

function connect(int $port): Redis
{
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port, 60.0);
    $redis->auth('secret');
    return $redis;
}

// Not by echo: then headers count as sent, and no session can begin.
function say(string $line): void
{
    fwrite(STDOUT, "$line\n");
}

function ask(string $runnerDoes): string
{
    say($runnerDoes);
    return trim((string) fgets(STDIN));
}

// Runs `step` again and again, on a connection that is made anew after an exception, until `ends`
// exists, in a process of its own. `step` returns false if the call failed without an exception.
function keepDoing(int $port, string $told, string $ends, callable $step): int
{
    $child = pcntl_fork();
    if ($child !== 0) {
        return $child;
    }
    $seen = ['done' => 0, 'thrown' => 0, 'silent' => 0];
    $redis = null;
    while (!file_exists($ends)) {
        try {
            $redis ??= connect($port);
            $seen[$step($redis) ? 'done' : 'silent'] += 1;
        } catch (RedisException) {
            $redis = null;
            $seen['thrown'] += 1;
        }
        usleep(PAUSE_US);
    }
    file_put_contents($told, json_encode($seen));
    posix_kill(getmypid(), SIGKILL);  // without the parent's session
    exit(0);
}

function push(string $queue, string $pushed): callable
{
    return function (Redis $redis) use ($queue, $pushed): bool {
        $id = bin2hex(random_bytes(8));
        if (!is_int($redis->eval(PUSH, [$queue, "$queue:notify", $id], 2))) {
            return false;
        }
        file_put_contents($pushed, "$id\n", FILE_APPEND);
        return true;
    };
}

// A worker of Laravel's waits for a notice, then takes a job, does it, and removes it.
function work(string $queue, string $worked): callable
{
    return function (Redis $redis) use ($queue, $worked): bool {
        $keys = [$queue, "$queue:reserved", "$queue:notify"];
        $job = $redis->eval(POP, [...$keys, (string) time()], 3);
        if ($job === false && $redis->getLastError() === null) {
            return is_array($redis->blPop(["$queue:notify"], 1));
        }
        if (!is_string($job)) {
            return false;
        }
        file_put_contents($worked, "$job\n", FILE_APPEND);
        return is_int($redis->zRem("$queue:reserved", $job));
    };
}

// As a web request does it: a session is read, counted up and written by a process of its own.
function visit(int $port): callable
{
    return function (Redis $redis) use ($port): bool {
        ini_set('session.save_handler', 'redis');
        ini_set('session.save_path', "tcp://127.0.0.1:$port?auth=secret");
        ini_set('session.use_cookies', '0');
        session_id('visitor');
        if (!@session_start()) {
            return false;
        }
        $_SESSION['visits'] = ($_SESSION['visits'] ?? 0) + 1;
        return @session_write_close();
    };
}

function lines(string $file): array
{
    return file_exists($file) ? file($file, FILE_IGNORE_NEW_LINES) : [];
}

function restartUnder(int $port, string $folder): array
{
    mkdir($folder);
    $queue = "queues:$port";
    $steps = [
        'push' => push($queue, "$folder/pushed"),
        'work' => work($queue, "$folder/worked"),
        'session' => visit($port),
    ];
    $children = [];
    foreach ($steps as $name => $step) {
        $ends = $name === 'work' ? "$folder/worker-ends" : "$folder/ends";
        $children[] = keepDoing($port, "$folder/$name", $ends, $step);
    }
    sleep(CALM_S);
    for ($i = 0; $i < LOSSES; ++$i) {
        ask('LOSE SERVER');
        sleep(CALM_S);
    }
    touch("$folder/ends");
    // A job whose worker got no reply is a reserved one: Laravel gives it to another one later.
    $reserved = fn (): array => connect($port)->zRange("$queue:reserved", 0, -1);
    $left = fn (): int =>
        count(array_diff(lines("$folder/pushed"), lines("$folder/worked"), $reserved()));
    $until = time() + END_S;
    do {
        usleep(100_000);
    } while ($left() > 0 && time() < $until);
    touch("$folder/worker-ends");
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
    }
    $seen = ['lost' => $left()];
    foreach (array_keys($steps) as $name) {
        foreach (json_decode(file_get_contents("$folder/$name"), true) as $what => $count) {
            $seen["$name $what"] = $count;
        }
    }
    return $seen;
}

function show(string $how, array $seen): void
{
    $said = array_map(fn ($what, $count) => "$what $count", array_keys($seen), $seen);
    say("PHP, $how: " . implode(', ', $said));
}

$folder = sys_get_temp_dir() . '/heatsink-php-' . getmypid();
mkdir($folder);
$direct = restartUnder((int) ask('SERVER PORT'), "$folder/direct");
show('direct', $direct);
$through = restartUnder((int) $argv[1], "$folder/through");
show('through the proxy', $through);
array_map('unlink', glob("$folder/*/*"));
array_map('rmdir', glob("$folder/*"));
rmdir($folder);
foreach ($through as $what => $count) {
    if (!str_ends_with($what, ' done') && $count > $direct[$what]) {
        throw new Exception("$what: more through the proxy");
    }
}
say('ok as_direct');
