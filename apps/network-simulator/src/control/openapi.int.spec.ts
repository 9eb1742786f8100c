import { z } from 'zod';
import { createGroup } from '../groups/group-members.js';
import { scanCode } from '../linking/pairing.js';
import { quietLibsignal } from '../quiet-libsignal.js';
import { Client } from '../scenarios/client.js';
import { startSimulator, type Simulator } from '../simulator.js';
import { answers } from './answers.js';
import { examples } from './examples.js';
import { operations } from './operations.js';

jest.setTimeout(120_000);
quietLibsignal();

/** Paths that people and clients use but that are no calls of the API. */
const NOT_CALLS = [/^\/$/, /^\/page\//, /^\/mms\//, /^\/product\//, /^\/pps\//, /^\/v\//];
const ALICE = '6591110001';
const BOB = '6591110002';

describe('the description of the control API', () => {
  it('names every call there is, and none that is not, each with its answer', async () => {
    const simulator = await startSimulator();
    const { routes } = simulator;
    const calls = routes.filter((route) => !NOT_CALLS.some((pattern) => pattern.test(route.split(' ')[1] ?? '')));
    expect([...calls].sort()).toEqual(Object.keys(operations).sort());
    expect(Object.keys(answers).sort()).toEqual(Object.keys(operations).sort());
    await simulator.stop();
  });

  it('has an example of every body, which the schema of the body accepts', () => {
    for (const [name, { body }] of Object.entries(operations)) {
      if (!body) continue;
      expect([name, examples[name]?.length ?? 0]).not.toEqual([name, 0]);
      for (const example of examples[name] ?? [])
        expect([name, body.safeParse(example).error]).toEqual([name, undefined]);
    }
    expect(Object.keys(examples).filter((name) => !Object.hasOwn(operations, name))).toEqual([]);
  });

  it('is served as a document and as a page that fits a phone, in light and dark', async () => {
    const simulator = await startSimulator();
    const document = (await (await fetch(`${simulator.control}/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, object> }>>;
    };
    expect(document.openapi).toBe('3.1.0');
    const sending = document.paths['/phones/{phone}/messages']?.['post'];
    expect(sending?.requestBody).toBeDefined();
    expect(Object.keys(sending?.responses ?? {})).toEqual(['201', '4XX']);
    const faults = document.paths['/faults']?.['post'];
    expect(Object.keys(faults?.responses ?? {})).toEqual(['200', '201', '4XX']);
    const page = await (await fetch(`${simulator.control}/docs`)).text();
    for (const part of ['/phones/:phone/scan', 'name="viewport"', 'color-scheme: light dark', 'curl -X POST']) {
      expect(page).toContain(part);
    }
    // Bodies that have a default or are one of several show their fields as well.
    for (const field of ['jitterMs', 'historyFiles', 'sealedEdit']) expect(page).toContain(field);
    await simulator.stop();
  });
});

describe('the answers of the control API', () => {
  let simulator: Simulator;
  let client: Client;
  let group: string;
  let sent: string;

  beforeAll(async () => {
    simulator = await startSimulator();
    const { network } = simulator;
    const alice = network.accounts.add(ALICE, 'Alice');
    const bob = network.accounts.add(BOB, 'Bob');
    client = new Client(simulator);
    await client.link((qr) => scanCode(network, alice, qr));
    const made = createGroup(network, alice, 'All', [bob.phoneJid]).group;
    group = made.jid;
    sent = (await simulator.phones.of(bob).sendText(ALICE, 'hello')).id;
    await client.text('hello');
  });
  afterAll(async () => {
    await client.end();
    await simulator.stop();
  });

  /** Calls that a client, a waiting person or a spec of their own takes part in, or that end what the others need. */
  const ELSEWHERE = new Set([
    ...['POST /phones/:phone/scan', 'POST /phones/:phone/link-code', 'POST /admin/mock-phone/scan-qr'],
    ...[
      'POST /phones/:phone/devices/:device/nudge',
      'GET /stream',
      'GET /phones/:phone/stream',
      'POST /phones/:phone/ask-again',
      'POST /phones/:phone/change-number',
    ],
    ...['DELETE /phones/:phone', 'DELETE /phones/:phone/devices/:device', 'DELETE /groups/:group', 'POST /reset'],
    ...['POST /phones/:phone/groups/:group/leave', 'POST /phones/:phone/groups/:group/requests', 'POST /clock'],
    ...['DELETE /phones/:phone/groups/:group/requests', 'POST /phones/:phone/join', 'POST /phones/:phone/picture'],
    ...['DELETE /faults/:id', 'DELETE /phones/:phone/calls/:id', 'GET /phones/:phone/messages/:id/file'],
  ]);
  /** Bodies where the example of the description does not fit this world. */
  const bodies = (): Record<string, unknown> => ({
    'POST /phones': { phone: '6591110005', name: 'New' },
    'POST /phones/:phone/messages/wait': { id: sent, timeoutMs: 1000 },
    'POST /phones/:phone/events/wait': { kind: 'call', timeoutMs: 1000 },
    'POST /faults': { kind: 'refuse-send', phone: '6599999999' },
  });

  it.each(Object.keys(operations).filter((name) => !ELSEWHERE.has(name)))('%s: as described', async (name) => {
    const [method = '', path = ''] = name.split(' ');
    if (name.endsWith('/events/wait')) await post(`/phones/${BOB}/calls`, { to: ALICE });
    const values: Record<string, string> = { phone: ALICE, number: ALICE, device: '1', group, id: sent };
    const url = path.replace(/:(\w+)/g, (_all, parameter: string) => values[parameter] ?? '');
    const body = bodies()[name] ?? examples[name]?.[0];
    const response = await fetch(simulator.control + url, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    await expectDescribed(name, response);
  });

  it.each([
    ['drop', 200],
    ['storm', 200],
    ['expire-media', 200],
    ['hold-acks', 201],
  ])('POST /faults of kind %s: as described', async (kind, status) => {
    const response = await post('/faults', { kind, phone: '6599999999' });
    expect(response.status).toBe(status);
    await expectDescribed('POST /faults', response);
  });

  /** The answer has a status of the description, and the shape or type that belongs to it. */
  async function expectDescribed(name: string, response: Response): Promise<void> {
    const text = await response.text();
    const described = answers[name] ?? [];
    const expected = described.find(({ status }) => status === response.status);
    expect([response.status, text]).toEqual([expected?.status ?? described.map(({ status }) => status), text]);
    if (expected?.body instanceof z.ZodType) {
      expect(z.safeParse(strict(expected.body), JSON.parse(text)).error).toBeUndefined();
    } else expect(response.headers.get('content-type')).toContain(expected?.body.type);
  }

  const post = (path: string, body: object): Promise<Response> =>
    fetch(simulator.control + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
});

/** Fields that are not described are found, where the description does not leave them open. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  if (schema instanceof z.ZodUnion) return z.union(schema.options.map((option) => strict(option as z.ZodType)));
  return schema instanceof z.ZodObject && schema.def.catchall === undefined ? schema.strict() : schema;
}
