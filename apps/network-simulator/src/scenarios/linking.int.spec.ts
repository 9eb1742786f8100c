import { scanCode } from '../linking/pairing.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { startSimulator } from '../simulator.js';
import { child, children, textOf, type Node } from '../wire/node.js';
import { Client } from './client.js';

jest.setTimeout(120_000);
quietLibsignal();

describe('linking', () => {
  it('codes rotate, expire, and run out', async () => {
    const simulator = await startSimulator({ qr: { firstMs: 60_000, nextMs: 20_000, count: 3 } });
    const phone = simulator.network.accounts.add();
    const waiting = new Client(simulator, { qrTimeout: 60 });
    waiting.start();
    const closed = waiting.closed();
    const codes = () => new Set(waiting.eventsOf('connection.update').flatMap(({ qr }) => (qr ? [qr] : [])));
    await waiting.until(() => codes().size === 3, 'three codes');
    expect(await closed).toBe(408);
    await waiting.end();
    for (const code of codes()) {
      await expect(scanCode(simulator.network, phone, code)).rejects.toMatchObject({ code: 410 });
    }
    await simulator.stop();
  });

  it('a screen gets six codes: a minute for the first, twenty seconds for each other, and a little grace', async () => {
    let now = Date.now();
    const simulator = await startSimulator({ now: () => now });
    const phone = simulator.network.accounts.add();
    const client = new Client(simulator);
    const { ws } = client.start();
    const offer = await new Promise<Node>((resolve) => ws.once('CB:iq,type:set,pair-device', resolve));
    const refs = children(child(offer, 'pair-device'), 'ref').map((ref) => textOf(ref) ?? '');
    expect(refs.length).toBe(6);
    const shown = await client.until(() => client.eventsOf('connection.update').find(({ qr }) => qr)?.qr, 'a code');
    const scan = (ref: string) => scanCode(simulator.network, phone, shown.replace(refs[0] ?? '', ref));
    now += 46_000;
    for (const old of refs.slice(0, 5)) {
      now += 20_000;
      await expect(scan(old)).rejects.toMatchObject({ code: 410 });
    }
    // The last one is still good, whatever old ones somebody tried, and links.
    now += 18_000;
    const closed = client.closed();
    expect(await scan(refs[5] ?? '')).toMatchObject({ id: 1 });
    expect(await closed).toBe(515);
    await client.connect();
    await client.end();
    await simulator.stop();
  });

  it('a phone accepts four devices, all of which receive from it, and refuses a fifth', async () => {
    const simulator = await startSimulator();
    const { network, phones } = simulator;
    const phone = phones.of(network.accounts.add());
    const clients: Client[] = [];
    for (let index = 0; index < 4; index++) {
      const one = new Client(simulator);
      await one.link((qr) => scanCode(network, phone.account, qr));
      clients.push(one);
    }
    await phone.sendText(phone.account.phone, 'to all of you');
    for (const one of clients) await one.text('to all of you');
    const fifth = new Client(simulator);
    const code = await fifth.code();
    await expect(scanCode(network, phone.account, code)).rejects.toMatchObject({ code: 409 });
    for (const one of [...clients, fifth]) await one.end();
    await simulator.stop();
  });
});
