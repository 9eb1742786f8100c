import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGroup } from './groups/group-members.js';
import { scanCode } from './linking/pairing.js';
import { quietLibsignal } from './quiet-libsignal.js';
import { Client } from './scenarios/client.js';
import { startSimulator, type Simulator } from './simulator.js';

quietLibsignal();

jest.setTimeout(60_000);

const NUMBER = '6591110007';

/** A client that is linked to a new phone of a network. */
async function linked(simulator: Simulator): Promise<Client> {
  const { network } = simulator;
  const client = new Client(simulator);
  await client.link((qr) => scanCode(network, network.accounts.add(NUMBER), qr));
  return client;
}

describe('a network behind another address', () => {
  it('announces its public host everywhere, and has it in its certificate', async () => {
    const simulator = await startSimulator({ publicHost: 'files.example:3002' });
    const { network, certificate } = simulator;
    expect([simulator.control, simulator.socketUrl, network.mediaHost()]).toEqual([
      'http://files.example:3002',
      'ws://files.example:3002/ws/chat',
      'files.example:3002',
    ]);
    expect(new X509Certificate(certificate).checkHost('files.example')).toBe('files.example');
    expect(new X509Certificate(certificate).checkHost('localhost')).toBe('localhost');
    await simulator.stop();
  });

  it('has an IPv6 address in its certificate', async () => {
    const simulator = await startSimulator({ publicHost: '[fd00::1:7]' });
    expect(simulator.control).toMatch(/^http:\/\/\[fd00::1:7\]:\d+$/);
    expect(new X509Certificate(simulator.certificate).checkIP('fd00::1:7')).toBe('fd00::1:7');
    await simulator.stop();
  });

  it('makes a new certificate when the host changed, and keeps the one that fits', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'simulator-host-'));
    const certificateAt = async (publicHost: string | undefined): Promise<string> => {
      const simulator = await startSimulator({ dataDir, publicHost });
      await simulator.stop();
      return simulator.certificate;
    };
    const first = await certificateAt(undefined);
    expect(await certificateAt(undefined)).toBe(first);
    const named = await certificateAt('simulator');
    expect(named).not.toBe(first);
    expect(await certificateAt('simulator')).toBe(named);
    await rm(dataDir, { recursive: true });
  });

  it('is one of several in a process, with the same keys where they are given', async () => {
    const first = await startSimulator();
    const second = await startSimulator({ identity: first.network.identity });
    const third = await startSimulator();
    expect(second.rootKey).toBe(first.rootKey);
    expect(third.rootKey).not.toBe(first.rootKey);
    const owner = first.network.accounts.add('6591110001', 'Only in the first');
    createGroup(first.network, owner, 'Only in the first', []);
    for (const { network } of [second, third]) {
      expect([network.accounts.size, [...network.groups.all()].length]).toEqual([0, 0]);
    }
    const clients = await Promise.all([first, second].map(linked));
    const texts = clients.map((client) => client.text('from its own network'));
    for (const { network, phones } of [first, second]) {
      const friend = phones.of(network.accounts.add('6591110009', 'Friend'));
      await friend.sendText(NUMBER, 'from its own network');
    }
    await Promise.all(texts);
    await Promise.all(clients.map((client) => client.end()));
    await first.stop();
    expect((await fetch(`${second.control}/health`)).status).toBe(200);
    await Promise.all([second.stop(), third.stop()]);
  });
});
