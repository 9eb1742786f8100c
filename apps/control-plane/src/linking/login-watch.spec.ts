import type { ChannelOverview } from '@dormouse/channel-directory';
import { GatewayError, type LoginCode } from '@dormouse/gateway-contract';
import { loginStep, type LoginStep } from '@dormouse/management-contract';
import { RegionAwayError } from '../regions/regions.js';
import { LoginWatch, type LoginWatchOptions } from './login-watch.js';

const NEVER: ChannelOverview['session'] = {
  ...{ state: 'closed', reason: null, sinceMs: 0, linked: false },
  ...{ phone: null, lid: null, deviceId: null, pushName: null },
};

type Reply = LoginCode | GatewayError;

/** A watch whose clock, record and worker are those of the spec. */
function setup(phone?: string) {
  const clock = { nowMs: 1_000_000 };
  const world = {
    session: NEVER,
    isAway: false,
    isDeleted: false,
    replies: [] as Reply[],
    calls: [] as unknown[],
  };
  const run = () => {
    if (world.isAway) return Promise.reject(new RegionAwayError('sg'));
    return Promise.resolve(world.isDeleted ? undefined : { id: 'c', shard: 3, session: world.session });
  };
  const command = (...call: unknown[]) => {
    world.calls.push(call.slice(0, 3));
    const reply = world.replies.shift() ?? new GatewayError(503, { details: 'nothing planned', retryAfterS: 60 });
    return reply instanceof GatewayError ? Promise.reject(reply) : Promise.resolve(reply);
  };
  type Link = LoginWatchOptions['link'];
  const link: Link = { run: run as Link['run'], command: command as Link['command'] };
  const watch = new LoginWatch({
    link,
    channelId: 'c',
    phone,
    requestId: 'r',
    now: () => clock.nowMs,
    lastsMs: 900_000,
  });
  const code = (text: string, forMs: number): LoginCode => ({ code: text, expiresAtMs: clock.nowMs + forMs });
  const sent: LoginStep[] = [];
  /** Turns until the worker was not called again; what was sent, and what the last turn does. */
  const turn = async () => {
    for (;;) {
      let isWoken = false;
      const { frames, then, withinMs } = await watch.next(() => (isWoken = true));
      sent.push(...frames.map((frame) => loginStep.parse(JSON.parse(/\ndata: (.*)\n\n$/.exec(frame)?.[1] ?? ''))));
      await new Promise((resolve) => setImmediate(resolve));
      if (!isWoken || then === 'end') return { sent: sent.splice(0), then, withinMs };
    }
  };
  return { clock, world, watch, turn, code };
}

describe('LoginWatch', () => {
  it('sends a code while it is valid, and the next one when it has expired', async () => {
    const { clock, world, turn, code } = setup();
    world.replies.push(code('first', 60_000));
    const first = await turn();
    expect(first).toEqual({
      sent: [{ event: 'code', by: 'scan', code: 'first', valid_until: 1_060_000, valid_ms: 60_000 }],
      then: 'wait',
      withinMs: 60_000,
    });
    clock.nowMs += 20_000;
    expect(await turn()).toMatchObject({ sent: [], withinMs: 40_000 });
    expect(world.calls).toHaveLength(1);
    clock.nowMs += 40_000;
    world.replies.push(code('second', 20_000));
    expect((await turn()).sent).toMatchObject([{ event: 'code', code: 'second' }]);
  });

  it('requests the code again when the session has changed its state: the one before may be worthless', async () => {
    const { world, turn, code } = setup();
    world.replies.push(code('first', 60_000));
    await turn();
    world.session = { ...NEVER, state: 'qr', sinceMs: 5 };
    world.replies.push(code('other', 60_000));
    expect((await turn()).sent).toMatchObject([{ event: 'code', code: 'other' }]);
  });

  it('begins the next pairing by itself when nobody used the codes of one, without a word', async () => {
    const { world, turn, code } = setup();
    const ended = new GatewayError(503, { details: 'no code was scanned before the last one expired', retryAfterS: 1 });
    world.replies.push(ended, code('fresh', 60_000));
    expect((await turn()).sent).toMatchObject([{ event: 'code', code: 'fresh' }]);
  });

  it('shows why there is no code, when it tries again, and does', async () => {
    const { clock, world, turn, code } = setup();
    world.session = { ...NEVER, reason: 'proxy_refused' };
    world.replies.push(new GatewayError(503, { details: 'the proxy of the settings refuses', retryAfterS: 30 }));
    expect(await turn()).toEqual({
      sent: [
        { event: 'failed', reason: 'proxy_refused', details: 'the proxy of the settings refuses', retry_after_s: 30 },
      ],
      then: 'wait',
      withinMs: 30_000,
    });
    clock.nowMs += 29_000;
    expect(await turn()).toMatchObject({ sent: [], withinMs: 1_000 });
    expect(world.calls).toHaveLength(1);
    clock.nowMs += 1_000;
    world.replies.push(code('fresh', 60_000));
    expect((await turn()).sent).toMatchObject([{ event: 'code', code: 'fresh' }]);
  });

  it('requests letters for a number, and ends when the network refuses it', async () => {
    const { world, turn, code } = setup('4915112345678');
    world.replies.push(code('ABCD2345', 160_000));
    expect((await turn()).sent).toMatchObject([{ event: 'code', by: 'phone', code: 'ABCD2345' }]);
    expect(world.calls).toEqual([[{ id: 'c', shard: 3 }, 'channel.phoneCode', { phone: '4915112345678' }]]);
    const refused = setup('4915112345678');
    refused.world.replies.push(new GatewayError(400, { details: 'phone: no' }));
    expect(await refused.turn()).toMatchObject({
      sent: [{ event: 'failed', reason: 'phone_refused', details: 'phone: no' }],
      then: 'end',
    });
  });

  it('sends that the number is linked at once, again with its name, and then ends', async () => {
    const { world, turn, code } = setup();
    world.replies.push(code('first', 60_000));
    await turn();
    world.session = { ...NEVER, state: 'connecting', linked: true, phone: '4915112345678' };
    expect(await turn()).toEqual({
      sent: [{ event: 'linked', phone: '4915112345678' }],
      then: 'wait',
      withinMs: 10_000,
    });
    world.session = { ...world.session, pushName: 'Example Shop' };
    expect(await turn()).toEqual({
      sent: [{ event: 'linked', phone: '4915112345678', name: 'Example Shop' }],
      then: 'end',
    });
  });

  it('waits ten seconds for a name, not longer', async () => {
    const { clock, world, turn } = setup();
    world.session = { ...NEVER, state: 'open', linked: true, phone: '4915112345678' };
    expect((await turn()).then).toBe('wait');
    clock.nowMs += 10_000;
    expect(await turn()).toMatchObject({ sent: [], then: 'end' });
  });

  it('goes on after the region was away, ends with its channel, and stops when nobody uses a code', async () => {
    const { clock, world, turn, code } = setup();
    world.isAway = true;
    expect(await turn()).toMatchObject({ sent: [{ reason: 'region_away', retry_after_s: 5 }], then: 'wait' });
    expect(await turn()).toMatchObject({ sent: [] });
    world.isAway = false;
    world.replies.push(code('first', 60_000));
    expect((await turn()).sent).toMatchObject([{ code: 'first' }]);
    clock.nowMs += 900_001;
    expect(await turn()).toMatchObject({ sent: [{ event: 'failed', reason: 'stopped' }], then: 'end' });
    world.isDeleted = true;
    expect(await turn()).toMatchObject({ sent: [{ event: 'failed', reason: 'deleted' }], then: 'end' });
  });

  it('answers a request without a stream with the first step, or with an error', async () => {
    const { world, watch, code } = setup();
    world.replies.push(code('first', 60_000));
    expect(await watch.first()).toMatchObject({ event: 'code', code: 'first' });
    const refused = setup();
    refused.world.replies.push(new GatewayError(503, { details: 'no network', retryAfterS: 30 }));
    await expect(refused.watch.first()).rejects.toMatchObject({ status: 503, details: 'no network', retryAfterS: 30 });
    const deleted = setup();
    deleted.world.isDeleted = true;
    await expect(deleted.watch.first()).rejects.toMatchObject({ status: 404 });
  });
});
