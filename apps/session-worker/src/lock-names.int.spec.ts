/** The names of the library's locks, on which `socket/patches/signal-transactions.ts` rests, as the real library uses them. */
import { randomUUID } from 'node:crypto';
import type { GroupCreateResult } from '@dormouse/gateway-contract';
import { librarySocket } from './socket/test-network.js';
import { CHANNEL, TestConversation } from './test-conversation.js';

jest.setTimeout(30_000);

/** What each kind of lock protects, by its name. A name of no kind needs a decision: may it wait for a send? */
const KINDS = {
  'own sends': /^\d+:\d+@s\.whatsapp\.net$/,
  'sessions with a person': /^\d+(:\d+)?@(lid|s\.whatsapp\.net)$/,
  'sessions that move to a LID': /^migrate-\d+-sessions-\d+$/,
  'sessions that are deleted': /^delete-\d+-sessions$/,
  'numbers of LIDs': /^lid-mapping$/,
  'sender keys of a group': /^[\d-]+@g\.us$/,
} as const;

describe("names of the library's locks", () => {
  const talk = new TestConversation();
  const names = new Set<string>();

  beforeAll(async () => {
    await talk.start();
    const { keys } = librarySocket(await talk.sessions.open(CHANNEL, Date.now() + 10_000)).authState;
    const transaction = keys.transaction.bind(keys);
    keys.transaction = (work, name) => {
      names.add(name);
      return transaction(work, name);
    };
  });
  afterAll(() => talk.stop());

  it('are of known kinds, through sends and messages of chats of two and of groups', async () => {
    const text = randomUUID();
    await talk.send({ to: talk.ada, body: text });
    await talk.received(talk.ada, { text });
    await talk.fromPhone(talk.ada, { text: 'an answer' });
    const { id } = await talk.result<GroupCreateResult>(
      { subject: 'Locks', participants: [talk.ada] },
      { name: 'groups.create' },
    );
    await talk.send({ to: id, body: `${text} all` });
    await talk.received(talk.ada, { text: `${text} all` });
    await talk.fromPhone(talk.ada, { text: 'an answer to all', to: id });
    const kinds = [...names].map((name) => {
      const kind = Object.entries(KINDS).find(([, pattern]) => pattern.test(name));
      return kind ? kind[0] : `unknown: ${name}`;
    });
    expect(kinds.filter((kind) => kind.startsWith('unknown'))).toEqual([]);
    expect(kinds).toEqual(
      expect.arrayContaining(['own sends', 'sessions with a person', 'numbers of LIDs', 'sender keys of a group']),
    );
  });
});
