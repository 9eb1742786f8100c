import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GatewayError } from '@dormouse/gateway-contract';
import { readForm } from './form-parts.js';

const limits = {
  maxBytes: 1024 * 1024,
  keep: () => undefined,
  refusal: () => new GatewayError(413, { details: 'document: larger' }),
};

describe('readForm', () => {
  it('waits for every file, also when a later one is taken in sooner', async () => {
    const part = (name: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.png"\r\n\r\n${name}\r\n`;
    const body = Readable.from([Buffer.from(`${part('first')}${part('second')}--x--\r\n`)]);
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const taken = new Map<string, string>();
    const take = async (bytes: Readable, { fileName = '' }: { fileName?: string }) => {
      await buffer(bytes);
      if (fileName === 'first.png') await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return fileName;
    };
    expect(await readForm(body, headers, limits, take, taken)).toHaveLength(2);
    expect([...taken.values()].sort()).toEqual(['first.png', 'second.png']);
  });

  it('reads the three characters that browsers escape in names, and no others', async () => {
    const part =
      '--x\r\ncontent-disposition: form-data; name="media"; filename="a%22b%0D%0a 100%25.pdf"\r\n\r\nx\r\n--x--\r\n';
    const names: string[] = [];
    const take = async (bytes: Readable, { fileName = '' }: { fileName?: string }) => {
      await buffer(bytes);
      names.push(fileName);
    };
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    await readForm(Readable.from([Buffer.from(part)]), headers, limits, take, new Map());
    expect(names).toEqual(['a"b\r\n 100%25.pdf']);
  });

  it('counts what is beside the files to the byte, however the form is cut', async () => {
    const head = '--x\r\ncontent-disposition: form-data; name="media"; filename="a"\r\n\r\n';
    const rest = `\r\n--x\r\ncontent-disposition: form-data; name="text"\r\n\r\n${'t'.repeat(50_000)}\r\n--x--\r\n`;
    const whole = Buffer.concat([Buffer.from(head), Buffer.alloc(300_000, 'f'), Buffer.from(rest)]);
    for (const cut of [1, 1000, 65_536, whole.length]) {
      const pieces = Array.from({ length: Math.ceil(whole.length / cut) }, (_, at) =>
        whole.subarray(at * cut, (at + 1) * cut),
      );
      const kept: number[] = [];
      const counting = { ...limits, keep: (bytes: number) => void kept.push(bytes) };
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      await readForm(Readable.from(pieces), headers, counting, buffer, new Map());
      expect(kept.at(-1)).toBe(head.length + rest.length);
      expect(Math.max(...kept)).toBe(head.length + rest.length);
    }
  });

  it('refuses a form beyond the largest body, though nothing announced its size', async () => {
    const head = '--x\r\ncontent-disposition: form-data; name="media"; filename="a"\r\n\r\n';
    const endless = Readable.from(
      (function* () {
        yield Buffer.from(head);
        for (;;) yield Buffer.alloc(64 * 1024);
      })(),
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const reading = readForm(endless, headers, limits, (bytes) => buffer(bytes), new Map());
    await expect(reading).rejects.toMatchObject({ status: 413, details: 'document: larger' });
    endless.destroy();
  });
});
