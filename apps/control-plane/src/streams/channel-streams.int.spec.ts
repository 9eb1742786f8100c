import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { openLog } from '@dormouse/bootstrap';
import fastify, { type FastifyInstance } from 'fastify';
import type { RegionLink } from '../regions/regions.js';
import { ChannelStreams, type StreamFacts } from './channel-streams.js';

describe('ChannelStreams', () => {
  let streams: ChannelStreams;
  let server: FastifyInstance;
  let url: string;
  let facts: Partial<StreamFacts>;
  /** When the last stream of a channel was closed. */
  const closes = new Map<string, Promise<unknown>>();
  /** Signals that something of a channel was stored. */
  let signal: (channelId: string) => void;

  beforeEach(async () => {
    facts = {};
    signal = () => undefined;
    const settings = { pollMs: 60_000, pollWhileLiveMs: 60_000, checkMs: 0 };
    streams = new ChannelStreams(openLog({ name: 'spec', level: 'silent' }), settings);
    const subscribeEvents: RegionLink['subscribeEvents'] = (onEvents) => {
      signal = onEvents;
      return { started: Promise.resolve(), isLive: () => true, close: () => Promise.resolve() };
    };
    const link = { subscribeEvents };
    const content = { next: () => Promise.resolve({ frames: ['data: one\n\n'], then: 'wait' as const }) };
    server = fastify();
    server.get('/:channel/:owner', (request, reply) => {
      const { channel, owner } = request.params as { channel: string; owner: string };
      const isAuthorized = () => Promise.resolve(true);
      closes.set(channel, once(reply.raw, 'close'));
      streams.answer(reply, { link, channelId: channel, owner, content, isAuthorized, ...facts });
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await streams.close();
    await server.close();
  });

  it('has at most ten streams of a channel and twenty of a user; one that was closed counts no longer', async () => {
    const open = (channel: string, owner: string) => fetch(`${url}/${channel}/${owner}`);
    for (let count = 0; count < 10; count += 1) expect((await open('a', `u${count}`)).status).toBe(200);
    expect((await open('a', 'v')).status).toBe(429);
    const mine = [];
    for (let count = 0; count < 20; count += 1) mine.push(await open(`c${count}`, 'me'));
    expect((await open('d', 'me')).status).toBe(429);
    await mine[0]?.body?.cancel();
    await closes.get('c0');
    expect((await open('d', 'me')).status).toBe(200);
  });

  it('ends a stream at the next check once its maker may not have it any more', async () => {
    let isAllowed = true;
    facts = { isAuthorized: () => Promise.resolve(isAllowed) };
    const response = await fetch(`${url}/a/me`);
    const reader = response.body?.getReader();
    await reader?.read();
    isAllowed = false;
    signal('a');
    const rest: string[] = [];
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      rest.push(new TextDecoder().decode(part.value));
    }
    expect(rest.join('')).toContain(': alive');
  });

  it('ends all streams when the server goes', async () => {
    const response = await fetch(`${url}/a/me`);
    const ended = response.text();
    await streams.close();
    expect(await ended).toContain('data: one');
  });
});
