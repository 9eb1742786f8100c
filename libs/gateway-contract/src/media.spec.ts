import { GatewayError } from './errors.js';
import {
  anyMedia,
  DEFAULT_MEDIA_LIMITS,
  FilePart,
  fileTooLarge,
  kindOfUpload,
  newMedia,
  readMediaInput,
  type MediaInput,
} from './media.js';
import { sendImageBody, sendImageInput } from './media-messages.js';
import { parseInput } from './parse.js';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const UPLOAD = 'png-00000000000000000000000000abc123-000014c0fb69ad';
const RECEIVED = 'jpeg-a5c300000000000000000000000053d1-928c01ab9d82c319b001-039eda342e';

describe('readMediaInput', () => {
  const name = { base64: 'AAAA', form: 'base64' } as const;
  it.each<[string, MediaInput]>([
    ['https://media.example.com/a.jpg', { form: 'url', url: new URL('https://media.example.com/a.jpg') }],
    ['HTTP://media.example.com/a', { form: 'url', url: new URL('http://media.example.com/a') }],
    [`data:image/png;base64,${DOT}`, { form: 'base64', mimeType: 'image/png', base64: DOT }],
    [
      'data:audio/ogg; codecs=opus;name=a%20b.ogg;base64,AAAA',
      { ...name, mimeType: 'audio/ogg; codecs=opus', fileName: 'a b.ogg' },
    ],
    ['data:image/png;name=100%.png;base64,AAAA', { ...name, mimeType: 'image/png', fileName: '100%.png' }],
    ['DATA:Image/PNG;filename="a.png";BASE64,AAAA', { ...name, mimeType: 'image/png', fileName: 'a.png' }],
    [UPLOAD, { form: 'id', id: UPLOAD }],
    [RECEIVED, { form: 'id', id: RECEIVED }],
    [DOT, { form: 'base64', base64: DOT }],
    [`${DOT.slice(0, 76)}\n${DOT.slice(76)}\n`, { form: 'base64', base64: `${DOT.slice(0, 76)}\n${DOT.slice(76)}\n` }],
  ])('recognizes the form of %p', (text, expected) => {
    expect(readMediaInput(text)).toEqual(expected);
  });

  it.each([
    ['an empty text', ''],
    ['a word too short for base64', 'hello'],
    ['a path', './files/a.jpg'],
    ['another scheme', 'ftp://media.example.com/a.jpg'],
    ['a URL without a host', 'https://'],
    ['a data: URI without base64', 'data:text/plain,hello%20there'],
    ['a data: URI without a type', `data:;base64,${DOT}`],
    ['a data: URI without bytes', 'data:image/png;base64,'],
    ['a data: URI whose header never ends', `data:${'a'.repeat(5_000)},AAAA`],
    ['base64 with padding in the middle', 'AAAA==AAAA'],
    ['base64 with too much padding', 'AAAAAAAA==='],
    ['an id with a slash', 'png-00/../11'],
  ])('recognises no form in %s', (_, text) => {
    expect(readMediaInput(text)).toBeUndefined();
  });

  it('reads a hundred megabytes of base64 without a stack or a pause', () => {
    const large = 'QUJD'.repeat(25_000_000);
    const start = process.cpuUsage();
    expect(readMediaInput(large)?.form).toBe('base64');
    expect(readMediaInput(`${large}*`)).toBeUndefined();
    // Of processor time: a few hundred on a usual machine.
    expect(process.cpuUsage(start).user / 1_000).toBeLessThan(10_000);
  });
});

describe('media fields', () => {
  const refusal = (schema: typeof anyMedia | typeof newMedia, media: unknown): string | undefined => {
    try {
      parseInput(schema, media);
    } catch (error) {
      if (error instanceof GatewayError) return error.details;
      throw error;
    }
    return undefined;
  };

  it('name the accepted forms in their errors', () => {
    expect(refusal(anyMedia, 'hello')).toBe('body: must be an http(s) URL, a data: URI, a media id or base64');
    expect(refusal(newMedia, UPLOAD)).toBe('body: must be an http(s) URL, a data: URI or base64');
  });

  it('name the field when it is missing or no text', () => {
    const details = (body: unknown) => {
      try {
        return parseInput(sendImageBody, body);
      } catch (error) {
        return error instanceof GatewayError ? error.details : error;
      }
    };
    expect(details({ to: '15550001111' })).toBe('media: required');
    expect(details({ to: '15550001111', media: null })).toBe('media: required');
    expect(details({ to: '15550001111', media: { form: 'file', handle: 'parts/1', field: 'media' } })).toBe(
      'media: must be text',
    );
  });

  it('keep a file part as it is, so that JSON can never name bytes of a form', () => {
    const part = new FilePart('media', 'parts/1', { fileName: 'a.png' });
    expect(parseInput(sendImageBody, { to: '15550001111', media: part }).media).toBe(part);
  });

  it('cross the queue as the id of a kept file', () => {
    const input = { to: '15550001111', caption: 'Hi', media: UPLOAD };
    expect(parseInput(sendImageInput, JSON.parse(JSON.stringify(input)))).toEqual(input);
    expect(() => parseInput(sendImageInput, { ...input, media: 'https://a.example' })).toThrow(GatewayError);
  });
});

describe('sizes', () => {
  it('hold an upload to the limit of its type', () => {
    expect(kindOfUpload('image/webp')).toBe('image');
    expect(kindOfUpload('VIDEO/mp4')).toBe('video');
    expect(kindOfUpload('application/pdf')).toBe('document');
    expect(kindOfUpload('nonsense')).toBe('document');
    expect(fileTooLarge('sticker', DEFAULT_MEDIA_LIMITS)).toMatchObject({
      status: 413,
      details: 'sticker: larger than 1048576 bytes',
    });
    expect(fileTooLarge('icon', { ...DEFAULT_MEDIA_LIMITS, icon: 5 }).details).toBe('icon: larger than 5 bytes');
  });
});
