import { z } from 'zod';
import * as shapes from './index.js';
import { GatewayError } from './errors.js';
import { FORM_FILE_FIELDS, parseForm, type FormPart } from './form.js';
import { FilePart, readMediaInput } from './media.js';
import { parseInput } from './parse.js';
import { READERS } from './test-readers.js';
import { samples, templateOf } from './test-samples.js';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const exported: Record<string, unknown> = { ...shapes };
const schemas = Object.entries(exported).flatMap(([name, value]): [string, z.ZodType][] =>
  value instanceof z.ZodType ? [[name, value]] : [],
);
const fieldNames = [
  ...new Set(schemas.flatMap(([, schema]) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []))),
];

const LEAVES: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  61,
  501,
  1e21,
  Number.MAX_SAFE_INTEGER + 2,
  '',
  ' ',
  '0',
  '1',
  'true',
  '1e9',
  '15550001111',
  '15550001111@s.whatsapp.net',
  '120363000000000001@g.us',
  '99887766554433@lid',
  'PrAAAAAAAAAAEAA-wP4Dntov1w',
  'png-00000000000000000000000000abc123-000014c0fb69ad',
  'https://a.example/x',
  'https://[',
  'data:image/png;base64,AAAA',
  'data:,',
  'data:%E0%A4%A;name=%E0%A4%A;base64,AAAA',
  '\u0000\ud800',
  '👍',
  'online',
  'typing',
  'admins',
  'none',
  'x'.repeat(1_100),
  '__proto__',
  'constructor',
];

class Junk {
  constructor(private readonly random: () => number) {}

  private upTo(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.upTo(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  value(depth = 0): unknown {
    const kind = depth > 3 ? 0 : this.random();
    if (kind < 0.5) return LEAVES[this.upTo(LEAVES.length)];
    if (kind < 0.65) return Array.from({ length: this.upTo(14) }, () => this.value(depth + 1));
    return this.object(depth);
  }

  /** An object of known and unknown field names; `__proto__` is an own field, as JSON makes it. */
  object(depth = 0): unknown {
    const names = Array.from({ length: this.upTo(8) }, () =>
      this.random() < 0.1 ? '__proto__' : this.pick(fieldNames),
    );
    return JSON.parse(
      `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(this.value(depth + 1) ?? null)}`).join(',')}}`,
    );
  }

  /** A sound body with something in it replaced or removed. */
  damaged(body: unknown): unknown {
    if (body === null || typeof body !== 'object' || this.random() < 0.2) return this.value(1);
    const entries = Object.entries(body);
    const at = this.upTo(entries.length);
    const changed = entries.flatMap(([key, entry], index): [string, unknown][] => {
      if (index !== at) return [[key, entry]];
      return this.random() < 0.2 ? [] : [[key, this.damaged(entry)]];
    });
    return Array.isArray(body) ? changed.map(([, entry]) => entry) : Object.fromEntries(changed);
  }

  parts(): FormPart[] {
    return Array.from({ length: this.upTo(6) }, () => {
      const name = this.pick(fieldNames);
      if (this.random() < 0.3) return new FilePart(name, 'parts/1');
      return { name, text: this.random() < 0.3 ? JSON.stringify(this.value()) : String(this.pick(LEAVES.slice(1))) };
    });
  }
}

/** Runs something that may only succeed or refuse; how it ended. */
function outcome(read: () => unknown): 'read' | 'refused' {
  try {
    read();
    return 'read';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.status).toBe(400);
    expect(error.details).toMatch(/^[^:]{1,101}: ./s);
    return 'refused';
  }
}

describe('whatever a customer sends', () => {
  it('is read or refused with a 400 that names a field, by every schema', () => {
    const junk = new Junk(seeded(20_261_128));
    expect(schemas.length).toBeGreaterThan(45);
    for (const [, schema] of schemas) {
      for (let round = 0; round < 40; round += 1) outcome(() => parseInput(schema, junk.value()));
      for (let round = 0; round < 40; round += 1) outcome(() => parseInput(schema, junk.object()));
    }
  });

  it('is read or refused by every call, also when it is nearly right', () => {
    const junk = new Junk(seeded(7));
    const outcomes = { read: 0, refused: 0 };
    for (const { method, path, request } of samples) {
      const route = `${method} ${templateOf(method, path) ?? path}`;
      const reader = READERS[route];
      if (!reader || request.multipart || request.binaryBase64) continue;
      for (let round = 0; round < 15; round += 1) {
        const query = request.query && Object.fromEntries(Object.keys(request.query).map((key) => [key, 'x1']));
        const damaged = { ...request, body: junk.damaged(request.body), ...(query ? { query } : {}) };
        outcomes[outcome(() => reader(damaged, route))] += 1;
      }
    }
    expect(outcomes.read).toBeGreaterThan(200);
    expect(outcomes.refused).toBeGreaterThan(200);
  });

  it('is read or refused as a form', () => {
    const junk = new Junk(seeded(11));
    for (const [, schema] of schemas) {
      if (!(schema instanceof z.ZodObject)) continue;
      for (let round = 0; round < 15; round += 1) {
        outcome(() => parseForm(schema, junk.parts(), junk.pick(Object.values(FORM_FILE_FIELDS))));
      }
    }
  });
});

describe('whatever is long or deep', () => {
  it('never breaks the reader of media', () => {
    const junk = new Junk(seeded(13));
    for (let round = 0; round < 2_000; round += 1) {
      const text = Array.from({ length: 4 }, () => String(junk.pick(LEAVES.slice(1)))).join(junk.pick(['', ';', ',']));
      expect(() => readMediaInput(text)).not.toThrow();
    }
  });

  it('costs no more than its length when a text is very long', () => {
    const fields = schemas.flatMap(([, schema]) =>
      schema instanceof z.ZodObject ? Object.keys(schema.shape).map((field) => [schema, field] as const) : [],
    );
    const texts = ['a', '1', ':', ' ', '-', 'socks5://a:'].map((part) => part.repeat(20_000));
    const start = performance.now();
    for (const [schema, field] of fields) {
      for (const text of texts) {
        outcome(() => parseInput(schema, { [field]: text }));
        outcome(() => parseInput(schema, { [field]: [text] }));
      }
    }
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it('may be nested deeper than the stack', () => {
    const deep: unknown = JSON.parse(`${'{"to":['.repeat(100_000)}1${']}'.repeat(100_000)}`);
    for (const [, schema] of schemas) expect(outcome(() => parseInput(schema, deep))).toMatch(/read|refused/);
  });

  it('is read the same when it is read again, on the other side of the queue', () => {
    const junk = new Junk(seeded(17));
    const inputs = schemas.filter(([name]) => name.endsWith('Input') || COMMAND_BODIES.includes(name));
    expect(inputs.length).toBeGreaterThan(20);
    let reads = 0;
    for (const [, schema] of inputs) {
      for (const { request } of samples) {
        for (let round = 0; round < 3; round += 1) {
          const extra = { ...COMMAND_PLACES, ...(round === 0 ? {} : { media: STORED }) };
          const body = round < 2 ? request.body : junk.damaged(request.body);
          const parsed = schema.safeParse(JSON.parse(JSON.stringify({ ...Object(body), ...extra })));
          if (!parsed.success) continue;
          reads += 1;
          const again: unknown = JSON.parse(JSON.stringify(parsed.data));
          expect(parseInput(schema, again)).toEqual(parsed.data);
        }
      }
    }
    expect(reads).toBeGreaterThan(1_000);
  });
});

/** Bodies that are sent to the worker unchanged. */
const COMMAND_BODIES = [
  'sendTextBody',
  'sendLocationBody',
  'sendContactBody',
  'sendPollBody',
  'createGroupBody',
  'checkContactsBody',
  'setOwnPresenceBody',
];
const COMMAND_PLACES = {
  messageId: 'PrAAAAAAAAAAEAA-wP4Dntov1w',
  chatId: '15550001111@s.whatsapp.net',
  contactId: '15550001111',
  groupId: '120363000000000001@g.us',
  inviteCode: 'AbCdEfGhIjKlMnOpQrStUv',
};
const STORED = 'png-00000000000000000000000000abc123-000014c0fb69ad';
