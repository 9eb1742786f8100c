import { GatewayError } from './errors.js';
import { readMediaInput, uploadMediaBody } from './media.js';
import { sendDocumentBody } from './media-messages.js';
import { readMimeType, usableMimeType } from './mime-type.js';
import { parseInput } from './parse.js';

const UNHOLDABLE = [
  'application/x\r\nX: 1',
  'application/x\n',
  'application/\u0000',
  'application/x\u0001',
  '\ud83d\ude00',
  'application/\ud83d\ude00',
  'application/x; a=\ud800',
  'application/x; é=1',
  'application/x; a="\r\n"',
  'application/x; a=',
  'application/x; a b',
  'application/x; a="b',
  'text / html',
  'text/html, text/plain',
  'pdf',
  '/',
  'text/',
  '/html',
  `text/${'x'.repeat(300)}`,
  '',
];

describe('readMimeType', () => {
  it.each([
    ['image/png', 'image/png'],
    [' Image/PNG ', 'image/png'],
    ['audio/ogg; codecs=opus', 'audio/ogg; codecs=opus'],
    ['audio/ogg;codecs=opus;', 'audio/ogg; codecs=opus'],
    ['text/plain; charset="utf-8; x"', 'text/plain; charset="utf-8; x"'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', undefined],
    ['image/svg+xml', 'image/svg+xml'],
  ])('reads %s', (text, read) => {
    expect(readMimeType(text)).toBe(read ?? text);
  });

  it.each(UNHOLDABLE)('is undefined for what no header can hold (%j)', (text) => {
    expect(readMimeType(text)).toBeUndefined();
  });

  it('can do without parameters that no header can hold', () => {
    expect(usableMimeType('image/svg+xml;utf8;charset=utf-8;é=\ud800')).toBe('image/svg+xml; charset=utf-8');
    expect(usableMimeType('te xt/html; a=b')).toBeUndefined();
    expect(usableMimeType(undefined)).toBeUndefined();
  });

  it('costs no more than its length', () => {
    const start = process.cpuUsage(); // not the time of day: the machine may be busy
    for (const part of ['a/a;', '"', 'a="\\', ';', ' '])
      for (let round = 0; round < 200; round += 1) readMimeType(part.repeat(255).slice(0, 255));
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(1_000);
  });
});

describe('a mime type that a customer gives', () => {
  const detailsOf = (schema: typeof uploadMediaBody | typeof sendDocumentBody, body: object): string | undefined => {
    try {
      parseInput(schema, body);
      return undefined;
    } catch (error) {
      return error instanceof GatewayError && error.status === 400 ? error.details : String(error);
    }
  };

  it.each(UNHOLDABLE.filter((text) => text !== ''))(
    'is 400 that names it where no header can hold it (%j)',
    (mimeType) => {
      for (const schema of [uploadMediaBody, sendDocumentBody]) {
        const details = detailsOf(schema, { to: '15550001111', media: 'AAAAAAAA', mime_type: mimeType });
        expect(details?.startsWith('mime_type: ')).toBe(true);
      }
    },
  );

  it('counts as absent when it is empty', () => {
    expect(parseInput(uploadMediaBody, { media: 'AAAAAAAA', mime_type: '' }).mime_type).toBeUndefined();
  });

  it('is read from a data: URI without parameters that no header can hold', () => {
    expect(readMediaInput('data:application/x;\u00e9=\ud800;a=b;base64,AAAA')).toMatchObject({
      mimeType: 'application/x; a=b',
    });
    expect(readMediaInput('data:appli\u0000cation/x;base64,AAAA')).toBeUndefined();
  });
});
