import { NO_RATE_LIMITS, onStack } from '@dormouse/bench/bench-stack';
import { type LinkedChannel, World } from '@dormouse/bench/world';
import type { AppSwitches, Stack, StackOptions, startStack } from '@dormouse/stack';
import { type Certificate, Receiver } from './receiver.js';
import type { Report } from './report.js';
import { type Gap, Traffic, until } from './traffic.js';

export interface SandboxOptions {
  report: Report;
  /** How many numbers are linked, send and receive. */
  channels: number;
  /** How many more are linked and do nothing by themselves. */
  quiet?: number;
  workers?: number;
  /** Default: as in every region. Numbers spread evenly over shards, and shards over workers. */
  shardCount?: number;
  /** More switches, as those of a stack. */
  env?: StackOptions['env'];
  /** The launcher of another release. Default: this one's. */
  startStack?: typeof startStack;
  /** The webhook speaks TLS with this one. */
  certificate?: Certificate;
  /** Pause of each number between two sends, and of the phone between two texts. Default: 200. */
  everyMs?: number;
}

const FLEET_WITHIN_MS = 90_000;

/** What operators see of a worker. */
export interface SeenWorker {
  id: string;
  living: boolean;
  shards: number[];
  state: string;
}

/** A running sandbox with linked numbers and traffic, and an operator's view of it. */
export class Sandbox {
  constructor(
    readonly stack: Stack,
    readonly dataDir: string,
    readonly world: World,
    readonly channels: readonly LinkedChannel[],
    readonly quiet: readonly LinkedChannel[],
    readonly receiver: Receiver,
    readonly traffic: Traffic,
    private readonly report: Report,
  ) {}

  /** A call of the operators' part of the management API, as the runbooks write it: `api GET /sg/workers`. */
  fleet<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const url = `${this.stack.urls.controlPlane}/api/v1/fleet${path}`;
    return this.world.call<Answer>(url, method, body, this.stack.operatorKey);
  }

  /** Repeats a read of operators until it shows something; a control plane that does not answer is asked again. */
  async untilFleet<Answer>(path: string, isSo: (answer: Answer) => boolean, withinMs = FLEET_WITHIN_MS): Promise<void> {
    await until(`GET ${path} is as expected`, withinMs, async () => {
      const answer = await this.fleet<Answer>('GET', path).catch(() => undefined);
      return answer !== undefined && isSo(answer);
    });
  }

  /**
   * Ends the traffic and reports what became of it: what all drills promise.
   * @param gap what phones wrote in this time may be lost: it is counted, and breaks no promise
   */
  async settle(gap?: Gap): Promise<void> {
    const { report, traffic } = this;
    report.step('the traffic ends; comparing what was sent with what arrived');
    await traffic.stop();
    const outcome = await traffic.outcome(gap);
    const ids = this.receiver.deliveries.map(({ eventId }) => eventId);
    report.figure('sends accepted', traffic.sends.filter(({ acceptedAtMs }) => acceptedAtMs).length);
    report.figure('attempts answered 503 (nothing was sent)', traffic.answered(503));
    report.figure('attempts answered 502 (not known)', traffic.answered(502));
    report.figure('attempts without an answer', traffic.answered(0));
    report.figure('texts written by the phone', traffic.written.length);
    report.figure('calls repeated under the id of their event', ids.length - new Set(ids).size);
    report.figure('texts stored after one that was written later', outcome.overtaken);
    if (gap) {
      report.figure('texts written in the lost time', outcome.writtenInGap);
      report.figure('of those never delivered', outcome.lostInGap);
      report.figure('of those delivered as two events', outcome.doubledInGap);
    }
    report.promise('every send is accepted in the end', outcome.unaccepted);
    report.promise('no accepted send is lost', outcome.lostSends);
    report.promise('no send is doubled', outcome.doubledSends);
    report.promise('every text received is delivered', outcome.undelivered);
    report.promise('none is delivered as two events', outcome.deliveredTwice);
    report.promise('events are delivered in the order of their numbers', outcome.disordered);
  }
}

/** A number whose shard changes its worker while a phone scans its code must be scanned once more: link later. */
async function untilShared({ urls, operatorKey }: Stack, world: World, count: number): Promise<void> {
  const url = `${urls.controlPlane}/api/v1/fleet/sg/workers`;
  await until('the workers share the shards', FLEET_WITHIN_MS, async () => {
    const { workers } = await world.call<{ workers: SeenWorker[] }>(url, 'GET', undefined, operatorKey);
    const sizes = workers.filter(({ living }) => living).map(({ shards }) => shards.length);
    return sizes.length === count && Math.min(...sizes) > 0 && Math.max(...sizes) - Math.min(...sizes) <= 1;
  });
}

/** No limit that protects the network from customers holds up a drill. */
function withoutLimits(switches: AppSwitches): AppSwitches {
  return { ...switches, 'edge-api': { ...NO_RATE_LIMITS, ...switches['edge-api'] } };
}

/** Starts a sandbox, links numbers, begins traffic and runs the drill on it; ends everything in any case. */
export async function onSandbox(options: SandboxOptions, work: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const { report, channels: count, workers = 1, env = {} } = options;
  report.step(`a sandbox starts: workers ${workers}, numbers ${count}`);
  const stackOptions = {
    workers,
    fast: true,
    ...(options.shardCount !== undefined && { shardCount: options.shardCount }),
    env:
      typeof env === 'function'
        ? async (addresses: Parameters<typeof env>[0]) => withoutLimits(await env(addresses))
        : withoutLimits(env),
  };
  await onStack(
    stackOptions,
    async (stack, dataDir) => {
      const receiver = await Receiver.open(options.certificate);
      try {
        const world = new World(stack);
        await untilShared(stack, world, workers);
        const channels = await world.linkMany(count, receiver.url);
        const quiet = await world.linkMany(options.quiet ?? 0, receiver.url);
        report.step('numbers are linked; traffic begins both ways');
        const edgeUrl = stack.urls.edge.sg;
        const traffic = await Traffic.start({ world, edgeUrl, channels, receiver, everyMs: options.everyMs ?? 200 });
        try {
          await work(new Sandbox(stack, dataDir, world, channels, quiet, receiver, traffic, report));
        } finally {
          traffic.abandon();
        }
      } finally {
        receiver.close();
      }
    },
    options.startStack,
  );
}
