import { contractRoutes } from '../test-contract.js';
import { RunningEdge, type TestChannel } from '../test-edge.js';

jest.setTimeout(60_000);

/** Enough for every endpoint: a body is looked at before the id. */
const COMPLETE = {
  to: '15550001111',
  body: 'x',
  emoji: '👍',
  archive: true,
  subject: 'x',
  participants: ['15550001111'],
  presence: 'typing',
};

describe('an id that holds a control character', () => {
  let edge: RunningEdge;
  let channel: TestChannel;

  beforeAll(async () => {
    edge = await RunningEdge.start({ RATE_OTHER: 'off', RATE_GROUP_WRITES: 'off', RATE_SENDS: 'off' });
    channel = await edge.channel();
  });
  afterAll(() => edge.stop());

  const routes = contractRoutes().filter((route) => route.includes('{'));

  it.each(routes)('%s answers that there is nothing with it', async (route) => {
    for (const id of ['a%00b', '%00', 'a%1Fb', 'png-00%00', '15550001111%0D%0A']) {
      const { status, error } = await edge.ask(route.replace(/\{\w+\}/, id), {
        token: channel.token,
        ...(route.startsWith('GET') ? {} : { body: COMPLETE }),
      });
      const isNeverServed = route.endsWith('/star') || route === 'POST /presences/{EntryID}';
      const [, name = ''] = /\{(\w+)\}/.exec(route) ?? [];
      expect([id, status]).toEqual([id, isNeverServed ? 501 : name === 'EntryID' ? 400 : 404]);
      if (!isNeverServed) expect(error.details).toContain(name);
    }
  });
});
