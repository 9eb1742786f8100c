import { TOTP, URI } from 'otpauth';
import { GatewayClient } from './harness/gateway-client.js';
import { eventually } from './harness/eventually.js';
import { RunningStack } from './harness/running-stack.js';
import type { SharedStack } from './harness/shared-stack.js';

interface Answered {
  status: number;
  body: Record<string, unknown>;
}

const FIRST = 'violet tractor sings 42';
const SECOND = 'amber pianos drift 77 north';
const BOBS = 'seven quiet lanterns 19 west';

/** A browser of somebody: keeps cookies, and names its origin with everything that changes something. */
class Person {
  readonly #cookies = new Map<string, string>();

  constructor(private readonly origin: string) {}

  async call(method: string, path: string, body?: object): Promise<Answered> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${this.origin}/api/v1${path}`, {
      method,
      headers: {
        origin: this.origin,
        ...(cookie ? { cookie } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Answered['body'] };
  }

  signIn(email: string, password: string): Promise<Answered> {
    return this.call('POST', '/auth/sign-in', { email, password });
  }
}

describe('people and their account', () => {
  let running: RunningStack<SharedStack>;
  let origin: string;
  let ann: Person;
  const email = 'ann@accounts.example.com';

  beforeAll(async () => {
    running = await RunningStack.shared();
    origin = running.stack.publicUrl;
    ann = new Person(origin);
  }, 180_000);
  afterAll(() => running.stop(), 60_000);

  /** The token in the link of the next mail to an address whose link leads to a page. */
  const tokenFromMail = async (to: string, page: string): Promise<string> =>
    eventually(
      async () => {
        const mails = running.stack.urls.mail ?? '';
        const listed = (await (await fetch(`${mails}/mails?to=${encodeURIComponent(to)}`)).json()) as {
          id: number;
        }[];
        for (const { id } of listed.toReversed()) {
          const { links } = (await (await fetch(`${mails}/mails/${id}`)).json()) as { links: string[] };
          const link = links.find((each) => new URL(each).pathname === page);
          if (link) return new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';
        }
        throw new Error(`no mail to ${to} with a link to ${page}`);
      },
      { what: `mail to ${to}`, withinMs: 20_000 },
    );

  it('sign up, and sign in only after the address is confirmed by mail', async () => {
    expect((await ann.call('POST', '/auth/sign-up', { name: 'Ann', email, password: FIRST })).status).toBe(200);
    expect((await ann.signIn(email, FIRST)).status).toBeGreaterThanOrEqual(400);
    const token = await tokenFromMail(email, '/verify-email');
    expect((await ann.call('POST', '/auth/verify-address', { token })).status).toBe(200);
    expect((await ann.signIn(email, FIRST)).status).toBe(200);
  });

  it('reset a forgotten password by mail: the old one and the sessions before end', async () => {
    const elsewhere = new Person(origin);
    expect((await elsewhere.call('POST', '/auth/password-reset', { email })).status).toBe(200);
    const token = await tokenFromMail(email, '/new-password');
    const reset = await elsewhere.call('POST', '/auth/password-reset/confirm', { token, password: SECOND });
    expect([reset.status, (await ann.call('GET', '/auth/session')).status]).toEqual([200, 401]);
    expect((await ann.signIn(email, FIRST)).status).toBeGreaterThanOrEqual(400);
    expect((await ann.signIn(email, SECOND)).status).toBe(200);
  });

  it('work in a team: who is invited by mail may do what the role lets them, from the next request on', async () => {
    expect((await ann.call('POST', '/accounts', { name: 'Acme' })).status).toBe(201);
    const bobs = 'bob@accounts.example.com';
    expect((await ann.call('POST', '/account/invitations', { email: bobs, role: 'viewer' })).status).toBe(201);
    const token = await tokenFromMail(bobs, '/invitation');
    const bob = new Person(origin);
    const join = () => bob.call('POST', '/invitations/join', { token, name: 'Bob', password: BOBS });
    expect([(await join()).status, (await join()).status]).toEqual([201, 404]);
    expect((await bob.signIn(bobs, BOBS)).status).toBe(200);
    const refused = await bob.call('POST', '/channels', { name: 'Shop' });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      403,
      expect.stringContaining('owner or developer'),
    ]);
    const { members } = (await ann.call('GET', '/account/members')).body as {
      members: { id: string; email: string }[];
    };
    const id = members.find((member) => member.email === bobs)?.id ?? '';
    expect((await ann.call('PATCH', `/account/members/${id}`, { role: 'developer' })).status).toBe(200);
    expect((await bob.call('POST', '/channels', { name: 'Shop' })).status).toBe(201);
    expect((await ann.call('DELETE', `/account/members/${id}`)).status).toBe(204);
    expect((await bob.call('GET', '/channels')).status).toBe(403);
  });

  it('have a second factor: each code works once, a recovery code stands in for a lost phone, once', async () => {
    const started = await ann.call('POST', '/auth/second-factor', { password: SECOND });
    const { totp_uri: uri, recovery_codes: codes } = started.body as { totp_uri: string; recovery_codes: string[] };
    const phone = URI.parse(uri);
    if (!(phone instanceof TOTP)) throw new Error('no TOTP');
    expect((await ann.call('POST', '/auth/second-factor/confirm', { code: phone.generate() })).status).toBe(200);
    const elsewhere = new Person(origin);
    expect((await elsewhere.signIn(email, SECOND)).body).toMatchObject({ code_required: true });
    expect((await elsewhere.call('GET', '/auth/session')).status).toBe(401);
    const code = phone.generate({ timestamp: Date.now() + 30_000 });
    expect((await elsewhere.call('POST', '/auth/sign-in/code', { code })).status).toBe(200);
    const another = new Person(origin);
    await another.signIn(email, SECOND);
    expect((await another.call('POST', '/auth/sign-in/code', { code })).status).toBe(401);
    const recover = async (person: Person): Promise<number> => {
      await person.signIn(email, SECOND);
      return (await person.call('POST', '/auth/sign-in/code', { recovery_code: codes[0] })).status;
    };
    expect([await recover(new Person(origin)), await recover(new Person(origin))]).toEqual([200, 401]);
  });

  it('end a session elsewhere: it is refused at its next request', async () => {
    const { sessions } = (await ann.call('GET', '/auth/sessions')).body as {
      sessions: { id: string; current: boolean }[];
    };
    const others = sessions.filter(({ current }) => !current);
    expect(others.length).toBeGreaterThanOrEqual(2);
    for (const { id } of others) expect((await ann.call('DELETE', `/auth/sessions/${id}`)).status).toBe(200);
    const left = (await ann.call('GET', '/auth/sessions')).body as { sessions: object[] };
    expect(left.sessions).toHaveLength(1);
  });

  it('take their data along and end the account: tokens, members and users are refused', async () => {
    const created = await ann.call('POST', '/channels', { name: 'Last shop' });
    const { token } = created.body as { token: string };
    const gateway = new GatewayClient(running.stack.urls.edge.sg, token);
    expect((await gateway.get('/health')).status).toBe(200);
    const exported = (await ann.call('GET', '/account/export')).body;
    expect(exported).toMatchObject({ account: { name: 'Acme' }, members: [{ email }] });
    expect(JSON.stringify(exported)).not.toContain(token);
    expect((await ann.call('DELETE', '/account', { name: 'Acme' })).status).toBe(204);
    await eventually(
      async () => {
        const statuses = [(await gateway.get('/health')).status, (await ann.call('GET', '/accounts')).status];
        if (statuses.join() !== '401,401') throw new Error(`statuses are ${statuses.join()}`);
        return true;
      },
      { what: 'the account has ended', withinMs: 30_000 },
    );
    expect((await new Person(origin).signIn(email, SECOND)).status).toBeGreaterThanOrEqual(400);
  });
});
