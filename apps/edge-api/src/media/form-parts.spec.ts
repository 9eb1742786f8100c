import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readForm } from './form-parts.js';

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
    expect(await readForm(body, headers, take, taken)).toHaveLength(2);
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
    await readForm(Readable.from([Buffer.from(part)]), headers, take, new Map());
    expect(names).toEqual(['a"b\r\n 100%25.pdf']);
  });
});
