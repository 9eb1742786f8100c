import { RunningStripeSide } from '../test-stripe-side.js';
import { renewTurn, requestTurn, takeTurn, endTurn } from './turns.js';

jest.setTimeout(60_000);

const HOLDER = '00000000-0000-4000-8000-000000000001';
const OTHER = '00000000-0000-4000-8000-000000000002';

describe('the turn of an account', () => {
  let running: RunningStripeSide;
  const read = (accountId: string) => running.side.accounts.read(accountId);

  beforeAll(async () => {
    running = await RunningStripeSide.open();
  });
  afterAll(() => running.close());
  afterEach(async () => {
    await running.control('DELETE', '/faults');
    await running.control('POST', '/away', { isAway: false });
  });

  async function subscribed(numbers = 2): Promise<string> {
    const accountId = running.newAccount();
    await running.link(accountId, numbers);
    await running.buyFirst(accountId);
    return accountId;
  }

  /** From the subscription's begin to its renewal: as many as the month has. */
  async function daysOfMonth(accountId: string): Promise<number> {
    const { data } = await running.stripe.subscriptions.list({ customer: await running.customerOf(accountId) });
    const { current_period_start: begin, current_period_end: end } = data[0]?.items.data[0] ?? {};
    if (begin === undefined || end === undefined) throw new Error('There is no subscription.');
    return Math.round((end - begin) / 86_400);
  }

  /** Has the process "die" when it next runs a statement: nothing of it is carried out. */
  function killAt(statement: string): void {
    const { pool } = running.database;
    const query = pool.query.bind(pool);
    pool.query = ((...given: Parameters<typeof query>) => {
      const [first]: unknown[] = given;
      if (typeof first !== 'object' || first === null || Reflect.get(first, 'name') !== statement)
        return query(...given);
      pool.query = query;
      return Promise.reject(new Error('killed'));
    }) as typeof query;
  }

  it('is held by one process at a time; what is requested meanwhile leads to one more turn, however often', async () => {
    const { pool } = running.database;
    const accountId = running.newAccount();
    await requestTurn(pool, accountId);
    const turn = await takeTurn(pool, accountId, HOLDER);
    expect(turn).toBeDefined();
    expect(await takeTurn(pool, accountId, OTHER)).toBeUndefined();
    for (let times = 0; times < 5; times += 1) await requestTurn(pool, accountId);
    expect(await takeTurn(pool, accountId, OTHER)).toBeUndefined();
    if (turn) await endTurn(pool, turn, null);
    const second = await takeTurn(pool, accountId, OTHER);
    expect(second).toBeDefined();
    if (turn) await expect(renewTurn(pool, turn)).rejects.toThrow('not held any more');
    if (second) await endTurn(pool, second, null);
    expect(await takeTurn(pool, accountId, HOLDER)).toBeUndefined();
  });

  it('is due at once, also when its time was rounded up as it was stored', async () => {
    const connection = await running.database.pool.connect();
    try {
      for (let times = 0; times < 20; times += 1) {
        const accountId = running.newAccount();
        // In one transaction `now()` does not move: every second time it is stored as later than it is.
        await connection.query('BEGIN');
        await requestTurn(connection, accountId);
        expect(await takeTurn(connection, accountId, HOLDER)).toBeDefined();
        await connection.query('ROLLBACK');
      }
    } finally {
      connection.release();
    }
  });

  it('is taken over when its process died, and the dead one writes nothing any more', async () => {
    const { pool } = running.database;
    const accountId = await subscribed();
    await requestTurn(pool, accountId);
    const dead = await takeTurn(pool, accountId, HOLDER);
    await pool.query(`UPDATE billing_turns SET held_until = now() - interval '1 s' WHERE account_id = $1`, [accountId]);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ status: 'active', bought: 1 });
    if (!dead) throw new Error('no turn');
    await expect(renewTurn(pool, dead)).rejects.toThrow('not held any more');
  });

  it('finishes a purchase whose answer was lost in a crash under the same key: charged once', async () => {
    const accountId = await subscribed();
    await running.raiseLimit(accountId, 5);
    killAt('finish-stripe-intent');
    await running.link(accountId, 1);
    await running.side.turns.run(accountId);
    const open = await running.database.pool.query(
      'SELECT kind FROM stripe_intents WHERE account_id = $1 AND finished_at IS NULL',
      [accountId],
    );
    expect(open.rows).toEqual([{ kind: 'purchase' }]);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ bought: 2 });
    expect(await running.paid(accountId)).toHaveLength(2);
    const subscription = await running.subscriptionOf(accountId);
    const purchases = (await running.requests()).filter(
      ({ method, path }) => method === 'POST' && path === `/v1/subscriptions/${subscription?.id ?? ''}`,
    );
    expect(purchases).toHaveLength(2);
    expect(new Set(purchases.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it.each(['drop_answer', 'fail', 'fail_kept', 'rate_limit'])(
    'comes to the same end, and charges once, while one request of three meets %s',
    async (kind) => {
      const accountId = await subscribed();
      await running.raiseLimit(accountId, 9);
      await running.control('POST', '/faults', { kind, oneIn: 3 });
      for (let numbers = 0; numbers < 3; numbers += 1) {
        await running.link(accountId, 1);
        await running.settle();
      }
      await running.control('DELETE', '/faults');
      await running.settle();
      expect(await read(accountId)).toMatchObject({ bought: 4, numbers: 5 });
      expect(await running.paid(accountId)).toHaveLength(4);
    },
  );

  it('changes nothing that is stored while Stripe is away, answers 503 to who waits, and goes on afterwards', async () => {
    const accountId = await subscribed();
    await running.control('POST', '/away', { isAway: true });
    await running.link(accountId, 1);
    await running.side.turns.run(accountId);
    expect(await read(accountId)).toMatchObject({ status: 'active', bought: 1, numbers: 3 });
    await expect(running.side.accounts.preview(accountId, 2)).rejects.toMatchObject({ status: 503, retryAfterS: 5 });
    await expect(running.checkOut(running.newAccount())).rejects.toMatchObject({ status: 503 });
    await running.control('POST', '/away', { isAway: false });
    await running.settle();
    await running.raiseLimit(accountId, 2);
    expect(await read(accountId)).toMatchObject({ bought: 2 });
  });

  it('stores what a failed renewal, the end of grace and a payment come to, and sends each mail once', async () => {
    const accountId = await subscribed(3);
    const card = (name: string) =>
      running.customerOf(accountId).then((id) => running.control('POST', `/customers/${id}/card`, { card: name }));
    await card('pm_card_chargeDeclined');
    await running.advance((await daysOfMonth(accountId)) + 1);
    const look = async (): Promise<void> => {
      await running.wantTurn(accountId);
      await running.settle();
    };
    await look();
    await look();
    expect(await read(accountId)).toMatchObject({
      status: 'past_due',
      bought: 2,
      open: [{ kind: 'renewal', amount: 800 }],
    });
    await running.advance(2);
    await look();
    await running.advance(1);
    await look();
    await look();
    const [open] = (await read(accountId)).open;
    expect(open?.url).toMatch(/^http/);
    await card('pm_card_visa');
    const invoices = await running.stripe.invoices.list({
      customer: await running.customerOf(accountId),
      status: 'open',
    });
    for (const { id } of invoices.data) await running.stripe.invoices.pay(id);
    await look();
    await look();
    expect(await read(accountId)).toMatchObject({ status: 'active', open: [] });
    const mails = await running.mailsOf(accountId);
    expect([...mails].sort()).toEqual(['grace-ending', 'numbers-stopped', 'payment-failed', 'served-again']);
    const { rows } = await running.database.pool.query<{ details: { status: string } }>(
      `SELECT details FROM audit_log WHERE account_id = $1 AND actor_kind = 'stripe' ORDER BY id`,
      [accountId],
    );
    expect(rows.map(({ details }) => details.status)).toEqual(expect.arrayContaining(['active', 'past_due']));
  });

  it('stores a status that this version does not know, and locks nobody out', async () => {
    const accountId = await subscribed();
    const subscription = await running.subscriptionOf(accountId);
    await running.control('POST', `/subscriptions/${subscription?.id ?? ''}/status`, { status: 'frozen' });
    await running.wantTurn(accountId);
    await running.settle();
    expect(await read(accountId)).toMatchObject({ plan: 'paid', status: 'frozen', bought: 1 });
  });
});
