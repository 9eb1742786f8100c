import { ChannelDirectory } from '@dormouse/channel-directory';
import { COMMANDS, GatewayError, parseInput, toErrorReply, type ExportPage } from '@dormouse/gateway-contract';
import { OPERATIONS } from '@dormouse/management-contract';
import { openCommandWorker } from '@dormouse/queues';
import { RunningControlPlane } from '../test-control-plane.js';
import { ChannelExport } from './channel-export.js';

describe('GET /channels/{id}/export', () => {
  let plane: RunningControlPlane;
  let key: string;
  let accountId: string;
  let worker: ReturnType<typeof openCommandWorker> | undefined;
  const asked: string[] = [];
  /** The worker refuses every page. */
  let refused: boolean;
  /** Pages of messages that the worker has. */
  let pages: ExportPage[];

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    ({ accountKey: key, accountId } = await plane.newAccount());
  });
  afterAll(() => plane.close());
  beforeEach(() => {
    asked.length = 0;
    pages = [];
    refused = false;
  });
  afterEach(async () => {
    await worker?.close();
    worker = undefined;
  });

  const create = async (): Promise<string> => {
    const { body } = await plane.call(key, 'POST', '/api/v1/channels', { body: { name: 'Shop' } });
    const { id } = body['channel'] as { id: string };
    const record = await new ChannelDirectory({ database: plane.regional, cacheMs: 0 }).byId(id);
    worker = openCommandWorker({
      redisUrl: plane.redisUrl,
      shard: record?.shard ?? -1,
      concurrency: 1,
      handle: ({ name, input }) => {
        const { kind, after } = parseInput(COMMANDS['channel.exportPage'].input, input);
        asked.push(`${name} ${kind} ${after}`);
        const page = kind === 'messages' ? pages[Number(after)] : { rows: [{ id: `of ${kind}` }] };
        return Promise.resolve(
          page && !refused
            ? { ok: true, result: page }
            : { ok: false, error: toErrorReply(new GatewayError(503, { details: 'redeploying' })) },
        );
      },
      onError: () => undefined,
    });
    return id;
  };

  it('is one JSON object of the channel, its settings and all pages of its worker, and in the audit log', async () => {
    const id = await create();
    pages = [{ rows: [{ id: 'a' }, { id: 'b' }], next: '1' }, { rows: [{ id: 'c' }] }];
    const { status, body } = await plane.call(key, 'GET', `/api/v1/channels/${id}/export`);
    expect(status).toBe(200);
    const exported = OPERATIONS.exportChannel.answer.parse(body);
    expect(exported).toMatchObject({
      channel: { id, name: 'Shop' },
      settings: { webhooks: [] },
      contacts: [{ id: 'of contacts' }],
      chats: [{ id: 'of chats' }],
      groups: [{ id: 'of groups' }],
      messages: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
    });
    const { rows } = await plane.database.pool.query(
      `SELECT account_id, object_id FROM audit_log WHERE action = 'channel.export'`,
    );
    expect(rows).toEqual([{ account_id: accountId, object_id: id }]);
  });

  it('requests a page when the one before was fetched, and no earlier', async () => {
    const id = await create();
    pages = Array.from({ length: 50 }, (_, n) => ({ rows: [{ id: n }], ...(n < 49 ? { next: String(n + 1) } : {}) }));
    const text = await plane.app.get(ChannelExport).begin(accountId, id, {
      actor: { kind: 'system', id: 'spec' },
    });
    for await (const piece of text) if (piece.includes('"id":3')) break;
    expect(asked.filter((one) => one.includes('messages'))).toHaveLength(4);
  });

  it('is the 503 of the worker while that does not answer, before anything was sent', async () => {
    const id = await create();
    refused = true;
    const answer = await plane.call(key, 'GET', `/api/v1/channels/${id}/export`);
    expect(answer).toMatchObject({ status: 503, body: { error: { details: 'redeploying' } } });
  });

  it('is 404 for a channel of another account or a deleted one', async () => {
    const id = await create();
    await worker?.close();
    worker = undefined;
    const path = `/api/v1/channels/${id}/export`;
    const { accountKey: other } = await plane.newAccount();
    expect((await plane.call(other, 'GET', path)).status).toBe(404);
    await plane.regional.pool.query('UPDATE channels SET deleted_at = now() WHERE id = $1', [id]);
    expect((await plane.call(key, 'GET', path)).status).toBe(404);
  });
});
