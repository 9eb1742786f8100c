import { readLoginCode } from '../launch/login-code.js';
import type { InstallationFacts } from '../launch/installation.js';
import type { LaunchedStack } from './launcher.js';

/** What a sandbox offers: a linked channel and phones to talk to. */
export type SandboxWorld = NonNullable<InstallationFacts['sandbox']>;

const CONNECTED_WITHIN_MS = 60_000;

interface Answer {
  status: number;
  body: unknown;
}

async function call(method: string, url: string, options: { key?: string; body?: unknown } = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function expectOk(method: string, url: string, options: { key?: string; body?: unknown } = {}): Promise<unknown> {
  const { status, body } = await call(method, url, options);
  if (status >= 300) throw new Error(`${method} ${new URL(url).pathname}: ${status} ${JSON.stringify(body)}`);
  return body;
}

function simulatorOf(stack: LaunchedStack): string {
  if (stack.urls.simulator === undefined) throw new Error('The sandbox needs the simulated network.');
  return stack.urls.simulator;
}

async function createPhone(stack: LaunchedStack, name: string): Promise<string> {
  const made = await expectOk('POST', `${simulatorOf(stack)}/phones`, { body: { name } });
  return (made as { phone: string }).phone;
}

/** The text of `status.text` of GET /health, or undefined if the token is not known (any more). */
async function healthText(stack: LaunchedStack, token: string): Promise<string | undefined> {
  const { status, body } = await call('GET', `${stack.urls.edge[stack.regions[0]]}/health`, { key: token });
  if (status === 401) return undefined;
  if (status !== 200) throw new Error(`GET /health: ${status} ${JSON.stringify(body)}`);
  return (body as { status: { text: string } }).status.text;
}

async function untilConnected(stack: LaunchedStack, token: string): Promise<void> {
  const deadline = Date.now() + CONNECTED_WITHIN_MS;
  let text: string | undefined;
  while (Date.now() < deadline) {
    text = await healthText(stack, token);
    if (text === 'connected') return;
    await new Promise((wake) => setTimeout(wake, 250));
  }
  throw new Error(`The sandbox's channel is not connected after ${CONNECTED_WITHIN_MS / 1000} s, but ${text}.`);
}

/** Links as a person does: shows the login image to the phone's camera. */
async function link(stack: LaunchedStack, channel: SandboxWorld['channel']): Promise<void> {
  const qr = await readLoginCode(stack.urls.edge[stack.regions[0]], channel.token);
  await expectOk('POST', `${simulatorOf(stack)}/phones/${channel.phone}/scan`, { body: { qr } });
}

async function createWorld(stack: LaunchedStack): Promise<SandboxWorld> {
  const phone = await createPhone(stack, 'Olive');
  const phones = [await createPhone(stack, 'Fred'), await createPhone(stack, 'Nora')];
  const created = await expectOk('POST', `${stack.urls.controlPlane}/api/v1/channels`, {
    key: stack.accountKey,
    body: { name: 'Sandbox', region: stack.regions[0] },
  });
  const { channel, token } = created as { channel: { id: string }; token: string };
  return { channel: { id: channel.id, token, phone }, phones };
}

/**
 * Finds the sandbox's channel and phones as the last start left them, or makes them: through the management API, the
 * simulator's control API and the login image, as a customer would.
 */
export async function prepareSandbox(stack: LaunchedStack): Promise<SandboxWorld> {
  const { installation } = stack;
  const known = installation.facts.sandbox;
  const text = known === undefined ? undefined : await healthText(stack, known.channel.token);
  const world = known === undefined || text === undefined ? await createWorld(stack) : known;
  if (world !== known) {
    installation.facts.sandbox = world;
    installation.save();
  }
  if (text === undefined || text === 'not_linked') await link(stack, world.channel);
  await untilConnected(stack, world.channel.token);
  return world;
}
