import { type LinkedChannel, RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';

const CHANNELS = 20;
const SENDS_PER_CHANNEL = 10;

describe('many sends at once', () => {
  let running: RunningStack<SharedStack>;
  let friend: VirtualPhone;
  let channels: LinkedChannel[];

  beforeAll(async () => {
    running = await RunningStack.shared();
    friend = await running.network.createPhone();
    channels = [];
    for (let index = 0; index < CHANNELS; index++) channels.push(await running.createLinkedChannel(`number ${index}`));
  }, 240_000);

  afterAll(() => running.stop(), 60_000);

  it('200 over 20 channels: all accepted, and those of each channel arrive in the order of its calls', async () => {
    const calls = channels.flatMap(({ client }) =>
      Array.from({ length: SENDS_PER_CHANNEL }, (_, index) =>
        client.post('/messages/text', { to: friend.phone, body: `text ${index}` }),
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(CHANNELS * SENDS_PER_CHANNEL);

    const expected = Array.from({ length: SENDS_PER_CHANNEL }, (_, index) => `text ${index}`);
    for (const { phone } of channels) await friend.waitFor({ chat: phone.phone, text: expected.at(-1) ?? '' });
    const received = await friend.messages();
    for (const { phone } of channels) {
      const own = received.filter(({ from, chat }) => from.startsWith(phone.phone) || chat.startsWith(phone.phone));
      own.sort((a, b) => a.receivedSeq - b.receivedSeq);
      expect(own.map(({ text }) => text)).toEqual(expected);
      expect(own.every(({ deliveries }) => deliveries === 1)).toBe(true);
    }
  }, 120_000);
});
