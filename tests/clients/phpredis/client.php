<?php
// SPDX-License-Identifier: Apache-2.0
// What a program does with phpredis. Arguments: port and RESP version (phpredis speaks RESP2).
declare(strict_types=1);

$port = (int) $argv[1];

function connect(): Redis
{
    global $port;
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port, 60.0);
    $redis->auth('secret');
    return $redis;
}

function ask(string $runnerDoes): string
{
    echo $runnerDoes, "\n";
    return trim((string) fgets(STDIN));
}

function equal(mixed $got, mixed $wanted): void
{
    if ($got !== $wanted) {
        throw new Exception('got ' . var_export($got, true) . ', wanted ' . var_export($wanted, true));
    }
}

function values(Redis $r): void
{
    equal($r->set('value', "binary\0\r\n"), true);
    equal($r->get('value'), "binary\0\r\n");
    equal($r->get('nothing'), false);
}

function transaction(Redis $r): void
{
    equal($r->multi()->set('a', '1')->incr('a')->exec(), [true, 2]);
}

function pipeline(Redis $r): void
{
    equal($r->multi(Redis::PIPELINE)->set('b', '1')->get('b')->exec(), [true, '1']);
}

// Neither an idle client nor one that connects sees it.
function outage(Redis $r): void
{
    $idle = connect();
    equal($idle->ping(), true);
    ask('LOSE SERVER');
    equal($idle->set('outage', 'idle'), true);
    ask('LOSE SERVER');
    $fresh = connect();
    equal($fresh->set('outage', 'fresh'), true);
}

// A call that cannot be answered throws. It would return false for an error that begins with ERR,
// and a queue would take its job for stored.
function without_server(Redis $r): void
{
    $calls = [
        'set' => fn ($c) => $c->set('k', 'v'),
        'rPush' => fn ($c) => $c->rPush('queue', 'job'),
        'incr' => fn ($c) => $c->incr('n'),
        'blPop' => fn ($c) => $c->blPop(['queue'], 1),
        'exec' => fn ($c) => $c->multi()->set('k', 'v')->exec(),
        'eval' => fn ($c) => $c->eval('return 1'),
        'publish' => fn ($c) => $c->publish('channel', 'message'),
    ];
    ask('KILL SERVER');
    foreach ($calls as $name => $call) {
        try {
            $returned = $call(connect());
        } catch (RedisException) {
            continue;
        }
        throw new Exception("$name returned " . var_export($returned, true));
    }
    ask('RESTART SERVER');
}

$client = connect();
foreach (['values', 'pipeline', 'transaction', 'outage', 'without_server'] as $step) {
    $step($client);
    echo "ok $step\n";
}
