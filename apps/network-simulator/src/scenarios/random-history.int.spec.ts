import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { RandomHistory } from './random-history.js';

quietLibsignal();

describe('the history of a random run', () => {
  let simulator: Simulator;
  const history = new RandomHistory();

  beforeAll(async () => {
    simulator = await startSimulator({ log: history.log });
  });

  afterAll(() => simulator.stop());

  it('shows of a message which faults applied, who requested another copy and who sent one, and what happened to its people then', async () => {
    const { network, phones } = simulator;
    const alice = phones.of(network.accounts.add('6591110001', 'Alice'));
    const bob = phones.of(network.accounts.add('6591110002', 'Bob'));
    const startMs = Date.now();
    history.note('6591110001', 'suffers corrupt-message');
    history.note('6591110009', 'suffers drop');
    network.faults.add({ kind: 'corrupt-message', phone: '6591110001', count: 1 });
    const { id } = await bob.sendText('6591110001', 'broken on its way');
    await bob.sendText('6591110001', 'another message');
    await alice.wait({ id }, 5000);
    const lines = history
      .of(network, id, ['6591110001', '6591110002'], startMs)
      .map((line) => line.replace(/^\d+\.\d+ /, ''));
    expect(lines.map((line) => line.replace(/ reason=.*/, ''))).toEqual([
      '6591110001 suffers corrupt-message',
      '6591110001: a fault changes a message kind=corrupt-message',
      '6591110001: a message is unreadable from=6591110002@s.whatsapp.net',
      '6591110001: another copy is requested author=6591110002@s.whatsapp.net count=1',
      `6591110002: the phone sends another copy by=${alice.account.phoneJid}`,
    ]);
  });

  it("shows of a client's log which message, what and why, and nothing else", () => {
    const log = history.clientLog('6591110001');
    const id = '3EB0C020876DEF71BD2D25';
    log.error({ key: { id }, error: new Error('no session'), node: '<enc>secret</enc>' }, 'error in handling message');
    log.error({ key: { id: 'OTHER' } }, 'another message');
    log.debug({ key: { id } }, 'too much');
    const lines = history.of(simulator.network, id, [], Date.now());
    expect(lines).toEqual([expect.stringMatching(/^-?\d+\.\d+ 6591110001's client: error in handling message/)]);
    expect(lines.join()).toContain('error=no session');
    expect(lines.join()).not.toContain('secret');
  });
});
