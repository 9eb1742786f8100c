import { typeOfHead } from './content-type.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WAV = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(32)]);
const COMPOUND = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(512)]);

describe('typeOfHead', () => {
  it('believes the content, not the claim or the name', async () => {
    expect(await typeOfHead(PNG, { mimeType: 'application/pdf', fileName: 'a.pdf' })).toEqual({
      mimeType: 'image/png',
      extension: 'png',
      recognized: true,
    });
  });

  it('uses the names phones know', async () => {
    expect(await typeOfHead(WAV)).toMatchObject({ mimeType: 'audio/wav', extension: 'wav' });
    expect(await typeOfHead(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]))).toMatchObject({ extension: 'jpeg' });
  });

  it('takes the claim, then the name, where the content shows nothing', async () => {
    const text = Buffer.from('a;b\n1;2\n');
    expect(await typeOfHead(text, { mimeType: 'text/csv; charset=utf-8' })).toMatchObject({ extension: 'csv' });
    expect(await typeOfHead(text, { fileName: 'x.csv' })).toMatchObject({ mimeType: 'text/csv', recognized: false });
    expect(await typeOfHead(COMPOUND, { fileName: 'letter.doc' })).toMatchObject({ mimeType: 'application/msword' });
  });

  it('never calls unrecognized bytes a picture, a sound or a film', async () => {
    const noise = Buffer.from([1, 2, 3, 0, 5, 6, 7, 8]);
    for (const mimeType of ['image/jpeg', 'audio/ogg', 'video/mp4']) {
      expect(await typeOfHead(noise, { mimeType })).toMatchObject({
        mimeType: 'application/octet-stream',
        extension: 'bin',
      });
    }
  });

  it('takes no claim that a header could not hold', async () => {
    const noise = Buffer.from([0xfe, 0xff, 0x80, 0x81]);
    for (const mimeType of ['text/html\r\nX: y', 'application/x\u0000', 'application/\ud83d\ude00', 'text/html, a/b']) {
      expect(await typeOfHead(noise, { mimeType })).toMatchObject({ mimeType: 'application/octet-stream' });
    }
    expect(await typeOfHead(Buffer.from('a'), { mimeType: 'text/csv;é=1; charset=utf-8' })).toMatchObject({
      mimeType: 'text/csv; charset=utf-8',
    });
  });

  it('distinguishes text from bytes, also when a character is cut', async () => {
    expect(await typeOfHead(Buffer.from('привет'))).toMatchObject({ mimeType: 'text/plain', extension: 'txt' });
    expect(await typeOfHead(Buffer.from('привет').subarray(0, 11))).toMatchObject({ mimeType: 'text/plain' });
    expect(await typeOfHead(Buffer.from([0xfe, 0xff, 0x80, 0x81]))).toMatchObject({ extension: 'bin' });
  });
});
