import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isErrorStatus, type ErrorEnvelope } from '@dormouse/gateway-contract';
import { hostileRequests, operationsOf, type HostileRequest } from '@dormouse/stack/test-hostile-requests';
import { createTestBucket, type TestBucket } from '@dormouse/stack/test-objects';
import fc from 'fast-check';
import { RunningEdge, type TestChannel } from './test-edge.js';

jest.setTimeout(120_000);

/** By hand, for longer: `FUZZ_RUNS=2000 FUZZ_SEED=7`. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 25);
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_129);

const document = JSON.parse(
  readFileSync(new URL('../../../libs/gateway-contract/openapi/contract.json', import.meta.url), 'utf8'),
) as Record<string, unknown>;

const PLAUSIBLE: Record<string, unknown> = {
  ChatID: '15550001111@s.whatsapp.net',
  ContactID: '15550001111',
  GroupID: '120363000000000001@g.us',
  EntryID: '15550001111',
  InviteCode: 'AbCdEfGhIjKlMnOpQrStUv',
  to: '15550001111',
  body: 'x',
  title: 'x',
  name: 'Example',
  vcard: 'BEGIN:VCARD',
  latitude: 1,
  longitude: 1,
  options: ['a', 'b'],
  media: 'data:image/png;base64,AAAAAAAA',
  subject: 'x',
  participants: ['15550001111'],
  contacts: ['15550001111'],
  presence: 'typing',
  archive: true,
  webhooks: [{ url: 'https://hooks.example.com/' }],
};

describe('whatever is sent', () => {
  let bucket: TestBucket;
  let spool: string;
  let edge: RunningEdge;
  let channel: TestChannel;
  const agent = new Agent({ keepAlive: true });

  beforeAll(async () => {
    bucket = await createTestBucket();
    spool = await mkdtemp(join(tmpdir(), 'dormouse-edge-spool-'));
    edge = await RunningEdge.start({
      S3_ENDPOINT: bucket.endpoint,
      S3_BUCKET: bucket.bucket,
      S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
      SPOOL_DIRECTORY: spool,
      RATE_OTHER: 'off',
      RATE_SENDS: 'off',
      RATE_HEALTH: 'off',
      RATE_CONTACT_CHECKS: 'off',
      RATE_GROUP_WRITES: 'off',
    });
    await edge.ready();
    channel = await edge.channel();
    edge.worker(channel, () => ({ ok: true, result: {} }));
  });
  afterAll(async () => {
    agent.destroy();
    await edge.stop();
    await bucket.drop();
    await rm(spool, { recursive: true, force: true });
  });

  function send({ method, path, headers, body }: HostileRequest): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const asking = request(`${edge.url}/`, {
        agent,
        method,
        path,
        headers: {
          ...headers,
          authorization: `Bearer ${channel.token}`,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
      });
      asking.once('error', reject).once('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text })).once('error', reject);
      });
      asking.end(body);
    });
  }

  it.each(operationsOf(document).map((operation) => [operation.route, operation] as const))(
    '%s is answered or refused with the envelope and never as a failure of ours',
    async (_route, operation) => {
      await fc.assert(
        fc.asyncProperty(hostileRequests(operation, PLAUSIBLE), async (given) => {
          const { status, text } = await send(given);
          if (status >= 200 && status < 300) return;
          expect([status < 500 || status === 501, isErrorStatus(status), text]).toEqual([true, true, text]);
          expect((JSON.parse(text) as ErrorEnvelope).error.code).toBe(status);
        }),
        { seed, numRuns, endOnFailure: true },
      );
    },
  );
});
