import { EventEmitter, once } from 'node:events';
import { Boom } from '@hapi/boom';
import type { FoundPictures } from '@dormouse/message-store/write';
import { testNetwork } from '../socket/test-network.js';
import type { OpenSession } from '../socket/open-session.js';
import { AvatarFetcher } from './avatar-fetcher.js';

const ADA = '15550001111@s.whatsapp.net';
const BO = '15550002222@s.whatsapp.net';
const GROUP = '120363000000000001@g.us';
const REFUSED = new Boom('refused', { data: 406 });
const TOO_MUCH = new Boom('rate-overlimit', { data: 429 });

/** A session, its network, its store, and a clock that goes as fast as it is waited for. */
class Scene {
  readonly queried: string[] = [];
  readonly recorded: FoundPictures[] = [];
  readonly faults: unknown[] = [];
  readonly looks: number[] = [];
  wants = true;
  wanted: string[] = [];
  nowMs = 1_790_000_000_000;
  /** Ends the clock: further waits last until the end of the session. */
  untilMs = Infinity;
  answers = new Map<string, () => Promise<string | undefined>>();
  readonly fetcher: AvatarFetcher;
  readonly steps = new EventEmitter();
  private readonly ev = new EventEmitter();

  constructor() {
    this.fetcher = new AvatarFetcher({
      wants: () => Promise.resolve(this.wants),
      now: () => this.nowMs,
      wait: (ms, signal) => this.wait(ms, signal),
      store: {
        wanted: (_channelId, { limit }) => {
          this.looks.push(this.nowMs);
          return Promise.resolve(this.wanted.slice(0, limit));
        },
        recordQueried: (_fence, _channelId, found) => {
          this.recorded.push(found);
          this.wanted = this.wanted.filter((id) => id !== found.id);
          return Promise.resolve();
        },
      },
    });
  }

  open(): { drained(): Promise<void> } {
    const socket = {
      ev: this.ev,
      profilePictureUrl: (jid: string, kind: string) => {
        if (kind === 'preview') this.queried.push(jid);
        return this.answers.get(jid)?.() ?? Promise.resolve(`https://pictures.example/${kind}/${jid}`);
      },
    };
    const session = {
      channelId: 'c',
      fence: { shard: 1, epoch: 1n },
      network: testNetwork(socket),
      reportFault: (error: unknown) => this.faults.push(error),
    };
    const attachment = this.fetcher.attach(session as unknown as OpenSession);
    this.ev.emit('connection.update', { connection: 'open' });
    return attachment;
  }

  close(): void {
    this.ev.emit('connection.update', { connection: 'close' });
  }

  /** Resolves when a wait lasts beyond the end of the clock. */
  async atRest(untilMs: number): Promise<void> {
    this.untilMs = untilMs;
    await once(this.steps, 'rest');
  }

  private async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.nowMs + ms <= this.untilMs) {
      this.nowMs += ms;
      await new Promise((resolve) => setImmediate(resolve));
      return;
    }
    this.steps.emit('rest');
    await once(signal, 'abort');
    throw new Error('over');
  }
}

describe('AvatarFetcher', () => {
  let scene: Scene;
  let startMs: number;
  beforeEach(() => {
    scene = new Scene();
    startMs = scene.nowMs;
  });
  afterEach(() => scene.close());

  it('queries what is wanted, at most once a second, and stores the results', async () => {
    scene.wanted = [ADA, GROUP, BO];
    scene.answers.set(BO, () => Promise.reject(new Boom('none', { data: 404 })));
    scene.open();
    await scene.atRest(startMs + 10_000);
    expect(scene.queried).toEqual([ADA, GROUP, BO]);
    const found = (id: string) => ({
      id,
      picture: `https://pictures.example/preview/${id}`,
      pictureFull: `https://pictures.example/image/${id}`,
    });
    expect(scene.recorded).toEqual([found(ADA), found(GROUP), { id: BO, picture: '', pictureFull: '' }]);
    expect(scene.nowMs - startMs).toBeGreaterThanOrEqual(3_000);
  });

  it('queries nothing for a channel without the setting, and starts as soon as it has it', async () => {
    scene.wants = false;
    scene.wanted = [ADA];
    scene.open();
    await scene.atRest(startMs + 60_000);
    expect([scene.looks, scene.queried]).toEqual([[], []]);
    scene.wants = true;
    const rest = scene.atRest(startMs + 70_000);
    scene.fetcher.settingsChanged('c');
    await rest;
    expect(scene.queried).toEqual([ADA]);
  });

  it('goes on with the others when the network refuses one, which is not repeated', async () => {
    scene.wanted = [ADA, BO];
    scene.answers.set(ADA, () => Promise.reject(REFUSED));
    scene.open();
    await scene.atRest(startMs + 60_000);
    expect(scene.queried).toEqual([ADA, BO]);
    expect(scene.recorded[0]).toEqual({ id: ADA });
    expect(scene.faults).toEqual([]);
  });

  it('pauses for most of an hour after a rate limit', async () => {
    scene.wanted = [ADA, BO];
    scene.answers.set(ADA, () => Promise.reject(TOO_MUCH));
    scene.open();
    await scene.atRest(startMs + 3_500_000);
    expect([scene.queried, scene.recorded, scene.faults]).toEqual([[ADA], [], []]);
  });

  it('queries nothing after the end, and stores no result that arrives then', async () => {
    scene.wanted = [ADA, BO];
    const answers: ((url: string) => void)[] = [];
    const queried = new Promise<void>((resolve) => {
      scene.answers.set(ADA, () => {
        resolve();
        return new Promise((answered) => answers.push(answered));
      });
    });
    const attachment = scene.open();
    await queried;
    await attachment.drained();
    for (const answer of answers) answer('https://late.example');
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toHaveLength(2);
    expect([scene.queried, scene.recorded]).toEqual([[ADA], []]);
  });

  it('shares a pace among all sessions', async () => {
    const times: number[] = [];
    const shared = new AvatarFetcher({
      wants: () => Promise.resolve(true),
      now: () => 0,
      wait: (ms) => {
        times.push(ms);
        return new Promise((resolve) => setImmediate(resolve));
      },
      store: { wanted: () => Promise.resolve([ADA]), recordQueried: () => Promise.reject(new Error('enough')) },
    });
    const evs = Array.from({ length: 40 }, (_, n) => {
      const ev = new EventEmitter();
      const socket = { ev, profilePictureUrl: () => Promise.resolve('x') };
      const session = { channelId: String(n), fence: {}, network: testNetwork(socket), reportFault: () => undefined };
      shared.attach(session as unknown as OpenSession);
      return ev;
    });
    for (const ev of evs) ev.emit('connection.update', { connection: 'open' });
    while (times.length < 80) await new Promise((resolve) => setImmediate(resolve));
    for (const ev of evs) ev.emit('connection.update', { connection: 'close' });
    // Each waits for its begin, then for its turn.
    expect(times.slice(40, 80)).toEqual(Array.from({ length: 40 }, (_, n) => 1_000 + n * 50));
  });
});
