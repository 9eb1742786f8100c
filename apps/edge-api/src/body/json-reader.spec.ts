import { randomBytes } from 'node:crypto';
import { GatewayError, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '@dormouse/gateway-contract';
import { LONG_TEXT_BYTES, readJson, type LongTextField } from './json-reader.js';

const MIB = 1024 * 1024;
const refusal = (details: RegExp): Error =>
  expect.objectContaining({ status: 400, details: expect.stringMatching(details) as string }) as Error;

async function* inPieces(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

function limits({ maxBytes = 64 * MIB } = {}) {
  const kept: number[] = [];
  const keep = (bytes: number) => void kept.push(bytes);
  return { maxBytes, keep, kept, refusal: () => new GatewayError(413, { details: 'too large' }) };
}

const read = (body: string | Buffer, size = 7, options = {}, longText?: LongTextField) =>
  readJson(inPieces(Buffer.from(body), size), limits(options), longText);

/** Reads the long text of `media`, and replaces it. */
function collector() {
  const texts: string[] = [];
  const field: LongTextField = {
    name: 'media',
    take: async (pieces) => {
      let text = '';
      for await (const piece of pieces) text += piece;
      texts.push(text);
      return `text ${texts.length}`;
    },
  };
  return { texts, field };
}

describe('readJson', () => {
  it.each([
    '{"to":"15550001111","body":"a, [b] {c} \\"d\\" \\\\"}',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1},"constructor":{"prototype":{}}}',
    '{"n":1e400,"m":-0,"big":12345678901234567890,"deep":0.1000000000000000055}',
    '"text"',
    '17',
    'null',
    ' [ ] ',
    '{"u":"\\ud83d\\ude00\\u0000\\ud800 \u00e9 \u{1f600}"}',
    `{"media":"${'a'.repeat(100)}"}`,
  ])('reads %j as JSON.parse does, cut anywhere', async (body) => {
    for (const size of [1, 2, 3, 1_000]) expect(await read(body, size)).toEqual(JSON.parse(body));
    const own = Object.keys((await read(body)) ?? {});
    expect(own).toEqual(Object.keys((JSON.parse(body) as object | null) ?? {}));
  });

  it('reads bytes that are no UTF-8 as replacement characters, wherever the pieces are cut', async () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff, 0xe2, 0x82]), Buffer.from('"}')]);
    expect(await read(body, 1)).toEqual(JSON.parse(body.toString('utf8')));
  });

  it.each(['', '  \r\n'])('reads a body of nothing (%j) as none', async (body) => {
    expect(await read(body)).toBeUndefined();
  });

  it.each(['{', '{"a":', '{"a":1}}', '{"a":1}{"b":2}', '[1,]', '{"a" 1}', "{'a':1}", '\ufeff{}', '{"a":"\n"}', '"a'])(
    'refuses %j, which is no JSON',
    async (body) => {
      await expect(read(body)).rejects.toThrow(refusal(/^body: not valid JSON$/));
    },
  );

  it.each([
    ['objects', '{}'],
    ['lists', '[]'],
    ['numbers', '1'],
    ['texts', '""'],
    ['members', '{"a":1,"b":2}'],
  ])('refuses more %s than any request needs, before they are made', async (_what, entry) => {
    const list = (length: number) => `{"media":[${Array.from({ length }, () => entry).join()}]}`;
    await expect(read(list(MAX_JSON_VALUES + 1), 65_536)).rejects.toThrow(refusal(/^body: has more than 10000 values/));
    await expect(read(list(2_000), 65_536)).resolves.toBeDefined();
  });

  it('stops reading a hostile body within the first piece that shows it', async () => {
    let pieces = 0;
    const hostile = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from('{"media":[');
      for (;;) {
        pieces += 1;
        yield Buffer.from('{},'.repeat(20_000));
      }
    };
    await expect(readJson(hostile(), limits())).rejects.toThrow(refusal(/values/));
    expect(pieces).toBe(1);
  });

  it('refuses a body that is nested deeper than any request needs, and counts nothing inside texts', async () => {
    const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      await expect(read(nested(MAX_JSON_DEPTH + 1, open, close), 100)).rejects.toThrow(
        refusal(/nested deeper than 64/),
      );
    }
    await expect(read(nested(MAX_JSON_DEPTH, '[', ']'), 100)).resolves.toBeDefined();
    const text = JSON.stringify({ body: '[{,"'.repeat(20_000) });
    expect(await read(text, 65_536)).toEqual(JSON.parse(text));
  });

  it('refuses a body as soon as it is larger than it may be', async () => {
    await expect(read(`{"a":"${'x'.repeat(100)}"}`, 10, { maxBytes: 50 })).rejects.toMatchObject({ status: 413 });
  });

  it('reports how much it holds, so that a body can be rejected before it is held', async () => {
    const budget = { ...limits(), keep: (bytes: number) => expect(bytes).toBeLessThanOrEqual(20) };
    await expect(readJson(inPieces(Buffer.from(`{"a":"${'x'.repeat(50)}"}`), 10), budget)).rejects.toThrow();
  });
});

describe('the long text of a field', () => {
  const long = 'data:image/png;base64,' + randomBytes(300_000).toString('base64');
  const expectTexts = async (body: string, texts: string[], size = 65_536) => {
    const { texts: taken, field } = collector();
    const result = await read(body, size, {}, field);
    expect(taken).toEqual(texts);
    return result;
  };

  it('is handed on whole and never kept', async () => {
    const { texts, field } = collector();
    const held = limits();
    const body = Buffer.from(JSON.stringify({ to: '1', media: long, caption: 'hi' }));
    expect(await readJson(inPieces(body, 16_384), held, field)).toEqual({ to: '1', media: 'text 1', caption: 'hi' });
    expect(texts).toEqual([long]);
    expect(Math.max(...held.kept)).toBeLessThan(2 * LONG_TEXT_BYTES);
  });

  it('is the same however it is written and cut', async () => {
    const escaped = long.replaceAll('/', '\\/').replace('image', '\\u0069m\\u0061ge');
    for (const size of [997, 4_096, 65_536]) {
      expect(await expectTexts(`{"m\\u0065dia" : "${escaped}"}`, [long], size)).toEqual({ media: 'text 1' });
    }
    const odd = `${'\\\\'.repeat(40_000)}\\"\\n\\u00e9\u00e9\u{1f600}\\ud83d\\ude00${'\\\\\\u0041'.repeat(30_000)}`;
    for (const size of [1_009, 65_536])
      await expectTexts(`{"media":"${odd}"}`, [JSON.parse(`"${odd}"`) as string], size);
  });

  it('is taken from no other place than the field of the outermost object', async () => {
    for (const value of [{ other: long }, { media: [long] }, { media: { media: long } }, [{ media: long }]]) {
      expect(await expectTexts(JSON.stringify(value), [])).toEqual(value);
    }
    expect(await expectTexts(JSON.stringify({ a: { media: 'x' }, b: [1, 2], media: long }), [long])).toMatchObject({
      media: 'text 1',
    });
  });

  it('is the last one where the field is there twice', async () => {
    expect(await expectTexts(`{"media":"${long}","media":"short"}`, [long])).toEqual({ media: 'short' });
    expect(await expectTexts(`{"media":"${long}","media":"${long}"}`, [long, long])).toEqual({ media: 'text 2' });
  });

  it.each([
    ['breaks off', `{"media":"${long}`],
    ['has a bare line break', `{"media":"${long}\n"}`],
    ['has an escape that is none', `{"media":"${long}\\x41"}`],
    ['ends in half an escape', `{"media":"${long}\\u00"}`],
    ['is followed by what does not belong there', `{"media":"${long}" "x"}`],
  ])('is no JSON when it %s', async (_what, body) => {
    await expect(read(body, 65_536, {}, collector().field)).rejects.toThrow(refusal(/^body: not valid JSON$/));
  });
});
