import { openLog, Probes } from '@dormouse/bootstrap';
import { closeRedis, openRedis, type Redis } from '@dormouse/redis';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../control-plane.js';
import { MemberRecipients } from '../mail/member-recipients.js';
import { OperatorKeys } from '../operators/operator-keys.js';
import { RunningControlPlane } from '../test-control-plane.js';

const SITE = { docsUrl: 'https://docs.test', supportAddress: 'help@test' };
const FROM = { address: 'no-reply@example.com', name: 'Dormouse' };

describe('a control plane that starts', () => {
  let plane: RunningControlPlane;
  let redis: Redis;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    plane = await RunningControlPlane.open();
    redis = openRedis({ url: plane.redisUrl, name: 'ending-jobs-spec' });
  });
  afterAll(async () => {
    await app.close();
    await closeRedis(redis);
    await plane.close();
  });

  it('completes the end of an account whose control plane died', async () => {
    const { database, regions } = plane;
    const { accountId } = await plane.newAccount();
    await database.pool.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [accountId]);
    const log = openLog({ name: 'spec', level: 'silent' });
    const probes = new Probes({ app: 'control-plane', checks: {} });
    const mail = { from: FROM, recipients: new MemberRecipients(database), metrics: probes.metrics };
    const operators = new OperatorKeys(new Map());
    app = await createApp({ database, regions, operators, jobs: { redis, mail }, log }, { site: SITE, probes });
    await app.init();
    const isDone = async (): Promise<boolean> =>
      (await database.pool.query('SELECT 1 FROM accounts WHERE id = $1 AND erased_at IS NOT NULL', [accountId]))
        .rowCount === 1;
    while (!(await isDone())) await new Promise((resolve) => setImmediate(resolve));
    expect(await redis.keys('*account-ends:repeat:*')).not.toEqual([]);
  });
});
