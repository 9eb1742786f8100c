import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePort } from '@dormouse/stack';
import { guidesWithSamples, missingProgram, SampleFolder, shapeFault, type Sample } from './harness/doc-samples.js';
import { eventually } from './harness/eventually.js';
import { RunningStack, type LinkedChannel } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';
import type { VirtualPhone } from './harness/simulated-network.js';
import { WebhookReceiver, type WebhookCall } from './harness/webhook-receiver.js';

const guides = guidesWithSamples();
const servers = guides.flatMap(({ samples }) => samples.filter(({ use }) => use === 'serve'));
const isCi = process.env['CI'] !== undefined;

describe('the samples of the documentation', () => {
  let running: RunningStack<SharedStack>;
  let channel: LinkedChannel;
  let friend: VirtualPhone;
  let secret: string;
  const folders: string[] = [];

  beforeAll(async () => {
    running = await RunningStack.shared();
    channel = await running.createLinkedChannel('Documentation');
    friend = await running.network.createPhone({ name: 'Reader' });
    const { body } = await running.management.call<{ secrets: { secret: string }[] }>(
      'GET',
      `/channels/${channel.id}/webhook-secret`,
    );
    secret = body.secrets[0]?.secret ?? '';
  }, 180_000);
  afterAll(async () => {
    await running.stop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }, 60_000);

  /** Runs samples with the variables that the guides name. */
  const newFolder = async (more: Record<string, string> = {}): Promise<{ samples: SampleFolder; path: string }> => {
    const path = await mkdtemp(join(tmpdir(), 'dormouse-samples-'));
    folders.push(path);
    const { controlPlane, simulator = '' } = running.stack.urls;
    const samples = new SampleFolder(path, {
      DORMOUSE_URL: running.edgeUrl,
      DORMOUSE_API: `${controlPlane}/api/v1`,
      SIMULATOR: simulator,
      ACCOUNT_KEY: running.stack.accountKey,
      CHANNEL: channel.id,
      TOKEN: channel.client.token ?? '',
      TO: friend.phone,
      MY_NUMBER: channel.phone.phone,
      ...more,
    });
    return { samples, path };
  };

  const deliverTo = (url: string) =>
    channel.client.request('PATCH', '/settings', {
      body: { webhooks: [{ url, events: [{ type: 'messages', method: 'post' }] }] },
    });

  /** A real call of a webhook, as it arrived. */
  const capturedCall = async (): Promise<WebhookCall> => {
    const receiver = await WebhookReceiver.start();
    try {
      await deliverTo(receiver.url);
      await friend.send(channel.phone.phone, 'for the shell');
      return await receiver.waitFor('a call', ({ body }) => body.event?.type === 'messages');
    } finally {
      await deliverTo('http://127.0.0.1:9/');
      await receiver.close();
    }
  };

  it('are all of a kind that is run: nothing that looks like a program is only shown', () => {
    const shown = guides.flatMap(({ guide, samples }) =>
      samples
        .filter(({ use, language }) => use === 'show' && language !== 'text' && language !== 'json')
        .map(({ line }) => `${guide}:${line}`),
    );
    expect(shown).toEqual([]);
    expect(servers.map(({ language }) => language)).toEqual(['js', 'python', 'php']);
    expect(guides.flatMap(({ samples }) => samples).filter(({ use }) => use === 'run').length).toBeGreaterThan(25);
  });

  it.each(guides.filter(({ samples }) => samples.some(({ use }) => use === 'run')))(
    'of $guide do what the page shows',
    async ({ guide, samples }) => {
      const call = guide === 'signatures.md' ? await capturedCall() : undefined;
      const header = (name: string) => String(call?.headers[name]);
      const folder = await newFolder({
        WEBHOOK_ID: header('webhook-id'),
        WEBHOOK_TIMESTAMP: header('webhook-timestamp'),
        WEBHOOK_SIGNATURE: header('webhook-signature'),
      });
      if (call) await writeFile(join(folder.path, 'body.json'), JSON.stringify(call.body));
      let output = '';
      for (const sample of samples) {
        if (sample.use === 'run') output = await folder.samples.run(sample);
        if (sample.use !== 'expect') continue;
        const fault = shapeFault(JSON.parse(sample.code), JSON.parse(output));
        expect(fault && `line ${sample.line}: ${fault}: ${output}`).toBeUndefined();
      }
    },
    60_000,
  );

  const needs = (sample: Sample) => (missingProgram(sample.language) === undefined || isCi ? it : it.skip);
  for (const sample of servers) {
    needs(sample)(`receive a signed call and refuse a forged one: ${sample.language}`, () => receives(sample), 60_000);
  }

  const receives = async (sample: Sample): Promise<void> => {
    const missing = missingProgram(sample.language);
    if (missing !== undefined) throw new Error(`${missing} is not installed: apt-get install ${missing}-cli`);
    const port = await choosePort();
    const folder = await newFolder({ WEBHOOK_SECRET: secret });
    const server = folder.samples.serve(sample, port);
    const lines: string[] = [];
    server.stdout?.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    server.stderr?.on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    try {
      await eventually(() => accepts(port), { what: `the server in ${sample.language} listens: ${lines.join('')}` });
      const url = `http://127.0.0.1:${port}/`;
      await deliverTo(url);
      await friend.send(channel.phone.phone, `for ${sample.language}`);
      await eventually(async () => lines.join('').includes('messages'), { what: `a call is accepted` });
      const forged = { 'webhook-id': 'x', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
      const headers = { ...forged, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
      const body = JSON.stringify({ event: { type: 'forged' } });
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401);
      expect(lines.join('')).not.toContain('forged');
    } finally {
      await deliverTo('http://127.0.0.1:9/');
      server.kill();
      await once(server, 'close');
    }
  };
});

/** Does a server accept connections at this port? */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
