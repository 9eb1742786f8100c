import type { AppName } from '@dormouse/stack';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

const SENDS = 200;
/** What sending must not need, one after the other. */
const AWAY: readonly AppName[] = ['billing', 'stripe-simulator', 'mailbox', 'control-plane'];
/** Sends that are answered while each of them is away. */
const WHILE_AWAY = SENDS / AWAY.length;

const refusesConnections = (url = ''): Promise<boolean> =>
  fetch(url).then(
    () => false,
    ({ cause }: Error) => (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED',
  );

describe('sending while everything about accounts and money is away', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let friend: VirtualPhone;

  beforeAll(async () => {
    running = await RunningStack.shared();
    friend = await running.network.createPhone();
    channel = await running.createLinkedChannel('sender');
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  it(`${SENDS} sends: all accepted, all received once and in order, while billing, Stripe, the mailbox and the control plane stop in turn`, async () => {
    const statuses: number[] = [];
    const isDown: boolean[] = [];
    for (const app of AWAY) {
      await running.stack.restart(app, {
        whileDown: async () => {
          isDown.push(await refusesConnections(running.stack.probes[app][0]));
          for (let index = 0; index < WHILE_AWAY; index += 1) {
            const body = `text ${statuses.length}`;
            const { status } = await channel.client.post('/messages/text', { to: friend.phone, body });
            statuses.push(status);
          }
        },
      });
    }
    expect(isDown).toEqual(AWAY.map(() => true));
    expect(statuses).toEqual(Array.from({ length: SENDS }, () => 200));
    await friend.waitFor({ chat: channel.phone.phone, text: `text ${SENDS - 1}` });
    const received = (await friend.messages()).toSorted((a, b) => a.receivedSeq - b.receivedSeq);
    expect(received.map(({ text }) => text)).toEqual(Array.from({ length: SENDS }, (_, index) => `text ${index}`));
    expect(received.every(({ deliveries }) => deliveries === 1)).toBe(true);
    expect(await fetch(`${running.stack.urls.controlPlane}/healthz`)).toMatchObject({ status: 200 });
  }, 120_000);
});
