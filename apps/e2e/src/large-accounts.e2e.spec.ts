import { eventually } from './harness/eventually.js';
import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

/** As many as the network lets into a group. */
const MAX_MEMBERS = 1_024;

describe('accounts in great use', () => {
  let running: RunningStack;
  let channel: LinkedChannel;

  beforeAll(async () => {
    running = await RunningStack.start();
    channel = await running.createLinkedChannel('Town Hall');
  }, 120_000);

  afterAll(() => running.stop(), 60_000);

  describe('a group of 1,024', () => {
    let group: string;
    let member: VirtualPhone;

    beforeAll(async () => {
      const members: VirtualPhone[] = [];
      while (members.length < MAX_MEMBERS - 1) members.push(await running.network.createPhone());
      member = members[700] ?? channel.phone;
      ({ id: group } = await running.network.call<{ id: string }>('POST', `/phones/${channel.phone.phone}/groups`, {
        subject: 'Town',
        members: members.map(({ phone }) => phone),
      }));
      await eventually(async () => (await channel.client.get(`/groups/${group}`)).status === 200, {
        what: 'the group is known',
      });
    }, 60_000);

    const send = (body: string) =>
      channel.client
        .post<{ error?: object }>('/messages/text', { to: group, body })
        .then(({ status, body: { error } }) => ({
          status,
          error,
        }));

    it('is written to for the first time, which takes a session with each member', async () => {
      expect(await send('Dear all')).toEqual({ status: 200, error: undefined });
      expect(await member.waitFor({ text: 'Dear all' })).toMatchObject({ chat: group, fromMe: false });
    }, 60_000);

    it('is written to again without a question about it', async () => {
      await running.network.call('POST', '/limits', { groupQuestionsPerMinute: 1 });
      for (const body of ['one', 'two', 'three']) expect(await send(body)).toEqual({ status: 200, error: undefined });
      await running.network.call('POST', '/limits', { groupQuestionsPerMinute: 0 });
      expect(await member.waitFor({ text: 'three' })).toMatchObject({ chat: group });
    }, 60_000);
  });
});
