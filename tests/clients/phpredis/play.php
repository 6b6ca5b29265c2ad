<?php
// SPDX-License-Identifier: Apache-2.0
// Plays the same PHP program on a server that is killed twice and is back within a second each
// time: direct, and through the proxy. What fails through the proxy must fail direct.
declare(strict_types=1);

const LOSSES = 2;
const PAUSE_US = 10_000;   // between two steps
const CALM_S = 2;          // before, between and behind the losses
const END_S = 30;          // at most, to do what is left

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

function lines(string $file): array
{
    return file_exists($file) ? file($file, FILE_IGNORE_NEW_LINES) : [];
}

function note(string $file, string $line): void
{
    file_put_contents($file, "$line\n", FILE_APPEND);
}

// Runs `work` in a process of its own, which leaves without the parent's session and output.
function fork(callable $work): int
{
    $child = pcntl_fork();
    if ($child === 0) {
        $work();
        posix_kill(getmypid(), SIGKILL);
    }
    return $child;
}

// Runs `step` until the file `ends` exists, and counts into the file `told`. `step` returns false if
// the call failed without an exception.
function keepDoing(string $told, string $ends, callable $step): int
{
    return fork(function () use ($told, $ends, $step): void {
        $seen = ['done' => 0, 'thrown' => 0, 'silent' => 0];
        while (!file_exists($ends)) {
            try {
                $seen[$step() ? 'done' : 'silent'] += 1;
            } catch (RedisException) {
                $seen['thrown'] += 1;
            }
            usleep(PAUSE_US);
        }
        file_put_contents($told, json_encode($seen));
    });
}

// One program of PHP, on one address. Its files are in `folder`.
interface Program
{
    // What it does until the file `ends` exists, by name: the process's number. The keeper of work
    // that may take longer watches the file `worker-ends`.
    public function begin(): array;

    // Jobs that were accepted and that nobody has worked on.
    public function left(): int;

    // What it counted beside the counts of keepDoing().
    public function seen(): array;
}

function restartUnder(Program $program, string $folder): array
{
    $children = $program->begin();
    sleep(CALM_S);
    for ($i = 0; $i < LOSSES; ++$i) {
        ask('LOSE SERVER');
        sleep(CALM_S);
    }
    touch("$folder/ends");
    $until = time() + END_S;
    do {
        usleep(100_000);
    } while ($program->left() > 0 && time() < $until);
    touch("$folder/worker-ends");
    foreach ($children as $child) {
        pcntl_waitpid($child, $status);
    }
    $seen = ['lost' => $program->left()] + $program->seen();
    foreach (array_keys($children) as $name) {
        foreach (json_decode(file_get_contents("$folder/$name") ?: '{}', true) as $what => $count) {
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

// `make` is given a port and a folder, and returns a Program.
function playBoth(int $proxy, callable $make): void
{
    $folder = sys_get_temp_dir() . '/heatsink-php-' . getmypid();
    mkdir($folder);
    $play = function (string $how, int $port) use ($folder, $make): array {
        mkdir("$folder/$port");
        $seen = restartUnder($make($port, "$folder/$port"), "$folder/$port");
        show($how, $seen);
        return $seen;
    };
    $direct = $play('direct', (int) ask('SERVER PORT'));
    $through = $play('through the proxy', $proxy);
    array_map('unlink', glob("$folder/*/*"));
    array_map('rmdir', glob("$folder/*"));
    rmdir($folder);
    foreach ($through as $what => $count) {
        if (!str_ends_with($what, 'done') && $count > $direct[$what]) {
            throw new Exception("$what: more through the proxy");
        }
    }
    say('ok as_direct');
}
