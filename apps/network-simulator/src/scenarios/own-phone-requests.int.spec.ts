import { scanCode } from '../linking/pairing.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { requestFromOwnPhone, hasShown } from './own-phone-requests.js';
import { Client } from './client.js';

jest.setTimeout(60_000);
quietLibsignal();

it('a client has a message from its own phone that it never showed, by its key alone', async () => {
  const simulator = await startSimulator();
  const { network, phones } = simulator;
  const alice = phones.of(network.accounts.add('6591110001', 'Alice'));
  const bob = phones.of(network.accounts.add('6591110002', 'Bob'));
  const { id } = await bob.sendText('6591110001', 'before the link');
  await alice.wait({ text: 'before the link' }, 8000);
  const client = new Client(simulator);
  await client.link((qr) => scanCode(network, alice.account, qr));
  expect(hasShown(client, id)).toBe(false);
  await requestFromOwnPhone(client, { key: { id, remoteJid: bob.account.lidJid, fromMe: false } });
  expect(hasShown(client, id)).toBe(true);
  await client.end();
  await simulator.stop();
});
