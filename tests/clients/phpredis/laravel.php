<?php
// SPDX-License-Identifier: Apache-2.0
// Laravel in an outage, by its own packages: its queue with a worker that a supervisor starts again,
// and its cache (remember, increment, a lock). Arguments: the proxy's port and the RESP version.
declare(strict_types=1);

require __DIR__ . '/play.php';
// Laravel 8 is older than this PHP, which says so at each use.
error_reporting(E_ALL & ~E_DEPRECATED);
foreach (['Cache', 'Container', 'Contracts', 'Events', 'Queue', 'Redis', 'Support'] as $package) {
    require "Illuminate/$package/autoload.php";
}

use Illuminate\Cache\RedisStore;
use Illuminate\Cache\Repository;
use Illuminate\Container\Container;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Events\Dispatcher;
use Illuminate\Queue\Connectors\RedisConnector;
use Illuminate\Queue\Jobs\Job as QueuedJob;
use Illuminate\Queue\QueueManager;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Redis\RedisManager;

// The job: says in a file that it was done.
class NoteDone
{
    public function work(QueuedJob $job, array $data): void
    {
        note($data['file'], $data['id']);
        $job->delete();
    }
}

class CountingHandler implements ExceptionHandler
{
    public function __construct(private readonly string $file)
    {
    }

    public function report(Throwable $problem)
    {
        note($this->file, get_class($problem));
    }

    public function shouldReport(Throwable $problem)
    {
        return true;
    }

    public function render($request, Throwable $problem)
    {
        throw $problem;
    }

    public function renderForConsole($output, Throwable $problem)
    {
        throw $problem;
    }
}

// What an application of Laravel holds of its queue and cache.
class Application
{
    public readonly QueueManager $queues;
    public readonly Repository $cache;
    public readonly RedisManager $redis;

    public function __construct(int $port)
    {
        $container = new Container();
        $container['events'] = new Dispatcher($container);
        $queue = ['driver' => 'redis', 'connection' => 'default', 'queue' => 'default',
                  'retry_after' => 90, 'block_for' => 1];
        $container['config'] = ['queue.default' => 'redis', 'queue.connections.redis' => $queue];
        $server = ['host' => '127.0.0.1', 'port' => $port, 'password' => 'secret', 'timeout' => 60];
        $this->redis = new RedisManager($container, 'phpredis', ['default' => $server]);
        $this->queues = new QueueManager($container);
        $this->queues->addConnector('redis', fn () => new RedisConnector($this->redis));
        $this->cache = new Repository(new RedisStore($this->redis, 'cache:'));
    }

    public function worker(ExceptionHandler $handler): Worker
    {
        $container = $this->queues->getApplication();
        return new Worker($this->queues, $container['events'], $handler, fn () => false);
    }
}

class Laravel implements Program
{
    public function __construct(private readonly int $port, private readonly string $folder)
    {
    }

    public function begin(): array
    {
        $application = new Application($this->port);
        $ends = "$this->folder/ends";
        return [
            'push' => keepDoing("$this->folder/push", $ends, fn () => $this->push($application)),
            'cache' => keepDoing("$this->folder/cache", $ends, fn () => $this->cache($application)),
            'worker' => fork(fn () => $this->supervise()),
        ];
    }

    // Jobs whose worker got no reply are reserved: they come back after retry_after.
    public function left(): int
    {
        $reserved = (new Application($this->port))->redis->zrange('queues:default:reserved', 0, -1);
        $held = array_map(fn ($job) => json_decode($job, true)['data']['id'], $reserved);
        $worked = lines("$this->folder/worked");
        return count(array_diff(lines("$this->folder/pushed"), $worked, $held));
    }

    public function seen(): array
    {
        return ['exceptions of the worker' => count(lines("$this->folder/reported"))];
    }

    private function push(Application $application): bool
    {
        $id = bin2hex(random_bytes(8));
        $data = ['id' => $id, 'file' => "$this->folder/worked"];
        if (!is_string($application->queues->connection()->push('NoteDone@work', $data))) {
            return false;
        }
        note("$this->folder/pushed", $id);
        return true;
    }

    private function cache(Application $application): bool
    {
        $cache = $application->cache;
        $read = $cache->remember('page', 1, fn () => 'rendered');
        $counted = $cache->increment('visits');
        $under_lock = $cache->lock('job', 5)->get(fn () => $cache->put('last', 1, 60));
        return $read === 'rendered' && is_int($counted) && $under_lock !== null;
    }

    // `artisan queue:work` under a supervisor: a worker that ends is started again.
    private function supervise(): void
    {
        $ended = 0;
        while (!file_exists("$this->folder/worker-ends")) {
            $worker = fork(function (): void {
                $handler = new CountingHandler("$this->folder/reported");
                $options = new WorkerOptions(sleep: 0);
                (new Application($this->port))->worker($handler)->daemon('redis', '', $options);
            });
            while (pcntl_waitpid($worker, $status, WNOHANG) === 0) {
                usleep(PAUSE_US);
                if (file_exists("$this->folder/worker-ends")) {
                    posix_kill($worker, SIGKILL);
                }
            }
            $ended += file_exists("$this->folder/worker-ends") ? 0 : 1;
        }
        file_put_contents("$this->folder/worker", json_encode(['ended' => $ended]));
    }
}

playBoth((int) $argv[1], fn (int $port, string $folder): Program => new Laravel($port, $folder));
