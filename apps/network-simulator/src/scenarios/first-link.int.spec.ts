import { scanCode } from '../linking/pairing.js';
import { changeChat } from '../phones/change-chats.js';
import type { Phone } from '../phones/phone.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import type { Node } from '../wire/node.js';
import { Client } from './client.js';

jest.setTimeout(180_000);
quietLibsignal();

const BOB = '6591110002@s.whatsapp.net';
const MUTED_UNTIL_MS = 1_900_000_000_000;
/** Histories have it in seconds, shared state in milliseconds. */
const MUTED_UNTIL = [MUTED_UNTIL_MS, MUTED_UNTIL_MS / 1000];

interface ChatState {
  id?: string | null;
  archived?: boolean | null;
  pinned?: number | null;
  muteEndTime?: unknown;
}

describe('what a phone has set about a chat, at a client that is linked', () => {
  let simulator: Simulator;
  let bob: Phone;

  beforeAll(async () => {
    simulator = await startSimulator();
    bob = simulator.phones.of(simulator.network.accounts.add('6591110002', 'Bob'));
  });

  afterAll(() => simulator.stop());

  /** The first link of a phone, until the client knows the chat's state. Returns the notices that the client received. */
  async function linkOnce(): Promise<Node[]> {
    const alice = simulator.phones.of(simulator.network.accounts.add());
    await bob.sendText(alice.account.phone, 'hello');
    await alice.idle();
    changeChat(alice, BOB, { archived: true, pinned: true, mutedUntilMs: MUTED_UNTIL_MS });
    // The history has it, too: here the shared state alone.
    delete alice.shared.chats[BOB];
    const client = new Client(simulator);
    const ofBob = (states: ChatState[]) => states.filter(({ id }) => id === BOB);
    const notices: Node[] = [];
    const code = await client.code();
    const closed = client.closed();
    await scanCode(simulator.network, alice.account, code);
    await closed;
    const open = client.connect();
    client.socket.ws.on('CB:notification', (notice: Node) => void notices.push(notice));
    await open;
    await client.until(() => {
      const chats = ofBob(client.eventsOf('messaging-history.set').flatMap((history): ChatState[] => history.chats));
      const changes = ofBob(client.eventsOf('chats.update').flat());
      if (chats.length === 0 && changes.length > 0) throw new Error('The state of the chat came before the chat.');
      const all = [...chats, ...changes];
      return (
        all.some(({ archived }) => archived) &&
        all.some(({ pinned }) => Number(pinned) > 0) &&
        all.some(({ muteEndTime }) => MUTED_UNTIL.includes(Number(muteEndTime)))
      );
    }, 'the state of the chat');
    await client.end();
    return notices;
  }

  it('is there after each of five links, never before the chat, and is not announced before the device has the key', async () => {
    const notices: Node[] = [];
    for (let count = 0; count < 5; count++) notices.push(...(await linkOnce()));
    expect(notices.filter(({ attrs }) => attrs['type'] === 'server_sync')).toEqual([]);
  });
});
