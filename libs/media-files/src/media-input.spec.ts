import { readMediaInput } from './media-input.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('readMediaInput', () => {
  it('takes an http(s) URL first, whatever its case', () => {
    expect(readMediaInput('HTTPS://media.example.com/a.jpg')).toEqual({
      form: 'url',
      url: new URL('https://media.example.com/a.jpg'),
    });
  });

  it('reads type and name of a data: URI', () => {
    expect(readMediaInput(`data:image/PNG;name=${encodeURIComponent('отчёт.png')};base64,${PNG}`)).toEqual({
      form: 'base64',
      base64: PNG,
      mimeType: 'image/png',
      fileName: 'отчёт.png',
    });
    expect(readMediaInput('data:text/plain;charset=utf-8;filename="a b.txt";base64,aGVsbG8gdGhlcmU=')).toMatchObject({
      fileName: 'a b.txt',
    });
    expect(readMediaInput('data:;base64,aGVsbG8gdGhlcmU=')).toEqual({ form: 'base64', base64: 'aGVsbG8gdGhlcmU=' });
  });

  it('tells a media id from base64', () => {
    const id = 'png-00000000000000000000000000abc123-000014c0fb69ad';
    expect(readMediaInput(id)).toEqual({ form: 'id', id });
    expect(readMediaInput(PNG)).toEqual({ form: 'base64', base64: PNG });
  });

  it.each(['', 'short', 'a file?', 'file:///etc/passwd', 'ftp://example.com/a', 'data:image/png,plain', 'http://'])(
    'refuses %j with 400 naming the field',
    (text) => {
      expect(() => readMediaInput(text, 'icon')).toThrow(
        expect.objectContaining({ status: 400, details: expect.stringMatching(/^icon: /) }),
      );
    },
  );
});
