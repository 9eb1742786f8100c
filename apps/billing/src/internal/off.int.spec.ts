import { TEST_BILLING_SECRET, TestBilling } from '../test-billing.js';

jest.setTimeout(60_000);

describe('billing without Stripe', () => {
  let billing: TestBilling;
  beforeAll(async () => {
    billing = await TestBilling.open({ switches: { STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' } });
  });
  afterAll(() => billing.close());

  const call = async (name: string, secret = TEST_BILLING_SECRET) => {
    const response = await fetch(`${billing.url}/internal/billing/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
      body: JSON.stringify({ accountId: 'acc_1' }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('answers that it is off, has no invoices, ends nothing, and refuses to sell', async () => {
    expect(await call('read')).toMatchObject({ status: 200, body: { plan: 'off', bought: 0 } });
    expect(await call('invoices')).toEqual({ status: 200, body: { invoices: [], next: null } });
    expect(await call('end')).toEqual({ status: 200, body: { ended: true } });
    for (const name of ['change', 'preview', 'checkout', 'portal']) {
      expect(await call(name)).toMatchObject({ status: 409, body: { error: { message: 'billing is off' } } });
    }
    expect((await call('read', 'another secret')).status).toBe(401);
  });
});
