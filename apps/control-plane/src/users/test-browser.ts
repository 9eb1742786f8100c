import { OPERATIONS } from '@dormouse/management-contract';
import { Secret, TOTP } from 'otpauth';
import { PUBLIC_URL, type Answer, type Method, type RunningControlPlane } from '../test-control-plane.js';

/** A browser for specs: keeps cookies, names its origin with everything that changes something. */
export class SpecBrowser {
  readonly cookies = new Map<string, string>();
  /** Its IP address. */
  address = '127.0.0.1';

  constructor(private readonly plane: RunningControlPlane) {}

  /** Calls an operation below `/api/v1`. */
  call(method: Method, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(method, `/api/v1${path}`, {
      headers: { ...(method === 'GET' ? {} : { origin: PUBLIC_URL }), ...headers },
      ...(body ? { body: JSON.stringify(body), type: 'application/json' } : {}),
    });
  }

  async send(
    method: Method,
    url: string,
    { body, type, headers = {} }: { body?: string; type?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer & { text: string }> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.plane.app.inject({
      method,
      url,
      remoteAddress: this.address,
      headers: { ...headers, ...(cookie ? { cookie } : {}), ...(type ? { 'content-type': type } : {}) },
      ...(body === undefined ? {} : { payload: body }),
    });
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0) this.cookies.delete(name);
      else this.cookies.set(name, encodeURIComponent(value));
    }
    const isJson = String(response.headers['content-type']).includes('json');
    const parsed: unknown = isJson && response.payload !== '' ? JSON.parse(response.payload) : {};
    return {
      status: response.statusCode,
      headers: response.headers,
      body: parsed as Answer['body'],
      text: response.payload,
    };
  }
}

export interface StoredMail {
  kind: string;
  data: Record<string, unknown>;
  to_address: string | null;
  to_user_id: string | null;
}

/**
 * What the outbox holds for an address, or for the user who has it, oldest first: in the order of their transactions, as two may
 * be of the same millisecond. Nothing sends them, so no row was changed since.
 */
export async function mailsTo(plane: RunningControlPlane, address: string): Promise<StoredMail[]> {
  const { rows } = await plane.database.pool.query<StoredMail>(
    `SELECT kind, data, to_address, to_user_id FROM mail_outbox
     WHERE to_address = $1 OR to_user_id = (SELECT id FROM users WHERE email = $1) ORDER BY xmin::text::bigint`,
    [address],
  );
  return rows;
}

/** The token in the link of the newest mail of a kind. */
export async function tokenIn(plane: RunningControlPlane, address: string, kind: string): Promise<string> {
  const mail = (await mailsTo(plane, address)).filter((one) => one.kind === kind).at(-1);
  if (!mail) throw new Error(`no mail ${kind} to ${address}`);
  return tokenOfLink(String(mail.data['link']));
}

/** The token that a link carries behind `#`: browsers send it to no server. */
export function tokenOfLink(link: string): string {
  return new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? '';
}

export const PASSWORD = 'violet tractor sings 42';

/** Signs up and confirms the address; the session that begins with that is ended. */
export async function newUser(plane: RunningControlPlane, email: string, password = PASSWORD): Promise<void> {
  const browser = new SpecBrowser(plane);
  await browser.call('POST', '/auth/sign-up', { name: 'Ada', email, password });
  await browser.call('POST', '/auth/verify-address', { token: await tokenIn(plane, email, 'verify-address') });
  await browser.call('POST', '/auth/sign-out');
}

/** A browser in which a new user is signed in. */
export async function signedIn(plane: RunningControlPlane, email: string): Promise<SpecBrowser> {
  await newUser(plane, email);
  const browser = new SpecBrowser(plane);
  const { status } = await browser.call('POST', '/auth/sign-in', { email, password: PASSWORD });
  if (status !== 200) throw new Error(`sign-in failed: ${status}`);
  return browser;
}

/** What a user whose second factor is on has. */
export interface SpecSecondFactor {
  recoveryCodes: string[];
  secret: Secret;
  /** The code of a half minute, counted from the present one; that of -1 is used up. */
  codeAt: (step: number) => string;
}

const STEP_MS = 30_000;

/** Turns the second factor of a signed-in user on. */
export async function turnOnSecondFactor(browser: SpecBrowser): Promise<SpecSecondFactor> {
  const start = await browser.call('POST', '/auth/second-factor', { password: PASSWORD });
  const { totp_uri: uri, recovery_codes: recoveryCodes } = OPERATIONS.startSecondFactor.answer.parse(start.body);
  const secret = Secret.fromBase32(new URL(uri).searchParams.get('secret') ?? '');
  const totp = new TOTP({ secret });
  const stepNow = (): number => Math.floor(Date.now() / STEP_MS);
  for (;;) {
    const startedIn = stepNow();
    const codeAt = (step: number): string => totp.generate({ timestamp: (startedIn + step) * STEP_MS });
    const { status } = await browser.call('POST', '/auth/second-factor/confirm', { code: codeAt(-1) });
    if (status === 200) return { recoveryCodes, secret, codeAt };
    // The code was too old by the time it arrived if a half minute ended meanwhile.
    if (startedIn === stepNow()) throw new Error(`the second factor is not on: ${status}`);
  }
}
